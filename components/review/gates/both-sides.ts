const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * What counts a column's values in the source, and in the documents where they most likely went:
 * one row for each value. A place is `collection.path`; where it is one of embedded entries, each
 * of them counts.
 */
export function bothSides(
  table: string,
  column: string,
  {
    collection,
    place,
    destination,
  }: { readonly collection: string; readonly place: string; readonly destination: string },
) {
  const steps = place === collection ? [] : place.slice(collection.length + 1).split('.');
  const path = destination.slice(collection.length + 1);
  return {
    sql:
      `SELECT ${quoted(column)}, COUNT(*) AS n\nFROM ${quoted(table)}\nGROUP BY ` +
      `${quoted(column)}\nORDER BY n DESC`,
    mql: {
      collection,
      pipeline: [
        ...steps.map((_, at) => ({ $unwind: `$${steps.slice(0, at + 1).join('.')}` })),
        { $group: { _id: `$${path}`, n: { $sum: 1 } } },
        { $sort: { n: -1 } },
      ],
    },
  };
}

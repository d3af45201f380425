/**
 * Uses before a statement gets a name: what is asked once, or with lists of ever other lengths,
 * gets none.
 */
const usesBefore = 3;
/** Each connection keeps the named ones until it ends, and PostgreSQL some 50 KB for each. */
const mostNames = 400;
/** Texts that are counted at a time. */
const mostCounted = 2000;
const unnamed = '';

/** Empty: no name. */
export type StatementNames = (statement: { readonly sql: string }) => string;

/**
 * Names for statements that are asked again and again: PostgreSQL parses and plans a named one once
 * for each connection. Planning a join of ten tables takes longer than reading the few rows that it
 * finds.
 */
export function statementNames(): StatementNames {
  const names = new Map<string, string>();
  let uses = new Map<string, number>();
  return ({ sql }) => {
    const name = names.get(sql);
    if (name !== undefined || names.size >= mostNames) return name ?? unnamed;
    const count = (uses.get(sql) ?? 0) + 1;
    if (count <= usesBefore) {
      if (uses.size >= mostCounted) uses = new Map();
      uses.set(sql, count);
      return unnamed;
    }
    uses.delete(sql);
    const given = `s${names.size}`;
    names.set(sql, given);
    return given;
  };
}

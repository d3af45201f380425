import { Graph, layout } from '@dagrejs/dagre';
import type {
  ConceptualDesign,
  RelationshipChoice,
} from '../../../lib/design/model/document-design';
import type { Profile } from '../../../lib/sqlite/profile/profile';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A collection with what lies in its documents; `x` and `y` are its upper left corner. */
export interface GraphBox extends Point {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly lines: readonly { readonly text: string; readonly title: string }[];
}

/** A reference, with the room that its label needs around `labelAt`. */
export interface GraphLink {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** Most queries need not follow it: a copy has what they read. */
  readonly dashed: boolean;
  readonly label: string;
  readonly labelAt: Point;
  readonly labelSize: { readonly width: number; readonly height: number };
  readonly points: readonly Point[];
}

export interface CollectionGraphLayout {
  readonly boxes: readonly GraphBox[];
  readonly links: readonly GraphLink[];
  readonly width: number;
  readonly height: number;
}

export const BOX_LINE = 18;
const BOX_WIDTH = { least: 120, most: 260 };
const HEAD = 34;
const textWidth = (text: string): number => text.length * 7;
const LABEL_HEIGHT = 16;

/**
 * Boxes and lines so that no label lies on another one or under a box; of both directions the one
 * that is read larger.
 */
export function layoutGraph(
  design: ConceptualDesign,
  profile: Profile,
  room: { readonly width: number; readonly height: number },
): CollectionGraphLayout {
  const content = contentOf(design, profile);
  const [across, down] = [arranged(content, 'LR'), arranged(content, 'TB')];
  const scale = ({ width, height }: CollectionGraphLayout): number =>
    Math.min(1, room.width / width, room.height / height);
  return scale(down) > scale(across) ? down : across;
}

type Content = {
  readonly boxes: readonly Omit<GraphBox, 'x' | 'y'>[];
  readonly links: readonly Omit<GraphLink, 'labelAt' | 'points'>[];
};

function arranged({ boxes, links }: Content, rankdir: 'LR' | 'TB'): CollectionGraphLayout {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir, nodesep: 28, edgesep: 10, ranksep: 40, marginx: 8, marginy: 8 });
  for (const { name, width, height } of boxes) graph.setNode(name, { width, height });
  for (const { id, from, to, labelSize } of links)
    graph.setEdge(from, to, { ...labelSize, labelpos: 'c' }, id);
  layout(graph);
  const { width = 1, height = 1 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    boxes: boxes.map((box) => {
      const { x, y } = graph.node(box.name) as Point;
      return { ...box, x: x - box.width / 2, y: y - box.height / 2 };
    }),
    links: links.map((link) => {
      const { x, y, points } = graph.edge(link.from, link.to, link.id) as Point & {
        points: Point[];
      };
      return { ...link, labelAt: { x, y }, points };
    }),
  };
}

/**
 * Collections with the tables that live in them, what they copy, and the references between them.
 */
function contentOf(design: ConceptualDesign, profile: Profile): Content {
  const relationship = (id: string) => profile.relationships.find((entry) => entry.id === id);
  const chosen = (choice: RelationshipChoice['choice']) =>
    design.relationships.filter((entry) => entry.choice === choice);
  const parentOf = new Map(
    chosen('embed').flatMap((choice) =>
      relationship(choice.relationship)
        ? [[relationship(choice.relationship)!.childTable, choice] as const]
        : [],
    ),
  );
  const rootOf = (table: string): string => {
    let at = table;
    for (let steps = 0; parentOf.has(at) && steps < 8; steps++)
      at = relationship(parentOf.get(at)!.relationship)!.parentTable;
    return at;
  };
  const boxes = design.collections.map(({ name, rootTable }) => {
    const inside = [...parentOf]
      .filter(([table]) => rootOf(table) === rootTable)
      .map(([, choice]) => choice);
    const copies = design.relationships.filter((choice) => {
      const child = choice.columns ? relationship(choice.relationship)?.childTable : undefined;
      return child !== undefined && rootOf(child) === rootTable;
    });
    const rows = chosen('bucket').find(
      (choice) => relationship(choice.relationship)?.childTable === rootTable,
    );
    const lines = [
      ...(rows
        ? [
            {
              text: `↳ ${rows.field}[ ] in buckets`,
              title: `${rows.relationship}: rows of one key share documents`,
            },
          ]
        : []),
      ...inside.map((choice) => ({
        text: `↳ ${choice.field}${choice.cardinality === 'many' ? '[ ]' : ''}`,
        title: choice.relationship,
      })),
      ...copies.map((choice) => ({
        text: `+ ${choice.parentField ?? choice.field}: ${(choice.columns ?? []).join(', ')}`,
        title: `copied: ${(choice.columns ?? []).join(', ')}`,
      })),
    ];
    const widest = Math.max(...[name, ...lines.map(({ text }) => text)].map(textWidth)) + 24;
    return {
      name,
      lines,
      width: Math.min(BOX_WIDTH.most, Math.max(BOX_WIDTH.least, widest)),
      height: HEAD + lines.length * BOX_LINE,
    };
  });
  const collectionOf = (table: string): string | undefined =>
    design.collections.find((collection) => collection.rootTable === rootOf(table))?.name;
  const links = design.relationships.flatMap(({ relationship: id, choice }) => {
    const found = relationship(id);
    const [from, to] = [
      found && collectionOf(found.childTable),
      found && collectionOf(found.parentTable),
    ];
    if (!found || !from || !to || choice === 'embed') return [];
    const label = found.childColumns.join(', ');
    return [
      {
        id,
        from,
        to,
        dashed: choice === 'copy',
        label,
        labelSize: { width: textWidth(label), height: LABEL_HEIGHT },
      },
    ];
  });
  return { boxes, links };
}

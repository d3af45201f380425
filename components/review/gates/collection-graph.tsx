'use client';
import { Background, Controls, MarkerType, ReactFlow, type Edge, type Node } from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { useMemo } from 'react';
import type { ConceptualDesign } from '../../../lib/design/document-design';
import type { Profile } from '../../../lib/sqlite/profile';

const WIDTH = 220;

/** Collections with the tables that live in them, what they copy, and the references between them. */
export function CollectionGraph({ design, profile }: { readonly design: ConceptualDesign; readonly profile: Profile }) {
  const { nodes, edges } = useMemo(() => layout(design, profile), [design, profile]);
  return (
    <div style={{ height: 460 }} className="rounded-md border border-line" aria-label="Graph of collections">
      <ReactFlow nodes={nodes} edges={edges} fitView nodesDraggable nodesConnectable={false} colorMode="system" proOptions={{ hideAttribution: false }}>
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

function layout(design: ConceptualDesign, profile: Profile): { nodes: Node[]; edges: Edge[] } {
  const buckets = design.relationships.filter((choice) => choice.choice === 'bucket');
  const embeds = design.relationships.filter((choice) => choice.choice === 'embed');
  const relationship = (id: string) => profile.relationships.find((entry) => entry.id === id);
  const parentOf = new Map(embeds.flatMap((choice) => (relationship(choice.relationship) ? [[relationship(choice.relationship)!.childTable, choice] as const] : [])));
  const rootOf = (table: string): string => {
    let at = table;
    for (let steps = 0; parentOf.has(at) && steps < 8; steps++) at = relationship(parentOf.get(at)!.relationship)!.parentTable;
    return at;
  };
  const columns = Math.ceil(Math.sqrt(design.collections.length));
  let [x, y, rowHeight] = [0, 0, 0];
  const nodes = design.collections.map((collection, at): Node => {
    const inside = [...parentOf].filter(([table]) => rootOf(table) === collection.rootTable).map(([, choice]) => choice);
    const copies = design.relationships.filter((choice) => {
      const child = choice.columns ? relationship(choice.relationship)?.childTable : undefined;
      return child !== undefined && rootOf(child) === collection.rootTable;
    });
    const rows = buckets.find((choice) => relationship(choice.relationship)?.childTable === collection.rootTable);
    const height = 44 + (inside.length + copies.length + (rows ? 1 : 0)) * 20;
    if (at > 0 && at % columns === 0) [x, y, rowHeight] = [0, y + rowHeight + 60, 0];
    const position = { x, y };
    x += WIDTH + 80;
    rowHeight = Math.max(rowHeight, height);
    return {
      id: collection.name,
      position,
      style: { width: WIDTH, textAlign: 'left', fontSize: 12 },
      data: {
        label: (
          <div>
            <b>{collection.name}</b>
            {rows ? <div title={`${rows.relationship}: rows of one key share documents`}>↳ {rows.field}[ ] in buckets</div> : null}
            {inside.map((choice) => (
              <div key={choice.relationship}>
                ↳ {choice.field}
                {choice.cardinality === 'many' ? '[ ]' : ''}
              </div>
            ))}
            {copies.map((choice) => (
              <div key={choice.relationship} title={`copied: ${(choice.columns ?? []).join(', ')}`}>
                + {choice.parentField ?? choice.field}: {(choice.columns ?? []).join(', ')}
              </div>
            ))}
          </div>
        ),
      },
    };
  });
  const collectionOf = (table: string): string | undefined => design.collections.find((collection) => collection.rootTable === rootOf(table))?.name;
  const edges = design.relationships.flatMap((choice): Edge[] => {
    const found = relationship(choice.relationship);
    const [source, target] = [found && collectionOf(found.childTable), found && collectionOf(found.parentTable)];
    if (!found || !source || !target || choice.choice === 'embed') return [];
    // The line of a copy is dashed: most queries need not follow it.
    const look = choice.choice === 'copy' ? { style: { strokeDasharray: '6 4' } } : {};
    return [{ id: choice.relationship, source, target, ...look, label: found.childColumns.join(', '), markerEnd: { type: MarkerType.ArrowClosed } }];
  });
  return { nodes, edges };
}

'use client';
import {
  Background,
  BaseEdge,
  Controls,
  Handle,
  MarkerType,
  Position,
  ReactFlow,
  type Edge,
  type EdgeProps,
  type Node,
  type NodeProps,
} from '@xyflow/react';
import '@xyflow/react/dist/style.css';
import { useMemo } from 'react';
import type { ConceptualDesign } from '../../../lib/design/model/document-design';
import type { Profile } from '../../../lib/sqlite/profile/profile';
import { BOX_LINE, layoutGraph, type GraphBox, type GraphLink, type Point } from './graph-layout';

const ROOM = { width: 900, height: 560 };
const LEAST_HEIGHT = 240;

/**
 * Collections with the tables that live in them, what they copy, and the references between them.
 */
export function CollectionGraph({
  design,
  profile,
}: {
  readonly design: ConceptualDesign;
  readonly profile: Profile;
}) {
  const graph = useMemo(() => layoutGraph(design, profile, ROOM), [design, profile]);
  const { nodes, edges } = useMemo(
    () => ({
      nodes: graph.boxes.map(({ x, y, width, height, ...box }): BoxNode => ({
        id: box.name,
        type: 'box',
        position: { x, y },
        width,
        height,
        data: box,
      })),
      edges: graph.links.map(({ id, from, to, ...link }): LinkEdge => ({
        id,
        type: 'link',
        source: from,
        target: to,
        data: link,
        markerEnd: { type: MarkerType.ArrowClosed, color: 'var(--muted)' },
      })),
    }),
    [graph],
  );
  const height = Math.min(ROOM.height, Math.max(LEAST_HEIGHT, graph.height + 40));
  return (
    <div
      style={{ height }}
      className="rounded-md border border-line"
      aria-label="Graph of collections"
    >
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        fitView
        fitViewOptions={{ padding: 0.03, maxZoom: 1 }}
        minZoom={0.1}
        nodesDraggable={false}
        nodesConnectable={false}
        colorMode="system"
        proOptions={{ hideAttribution: false }}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

type BoxNode = Node<Pick<GraphBox, 'name' | 'lines'>, 'box'>;
type LinkEdge = Edge<Pick<GraphLink, 'dashed' | 'label' | 'labelAt' | 'points'>, 'link'>;

function Box({ data: { name, lines } }: NodeProps<BoxNode>) {
  return (
    <div className="h-full rounded-md border border-muted bg-surface px-2.5 py-1.5 text-xs text-text">
      {/* Lines are drawn where the layout has put them; without handles they would not be drawn
          at all. */}
      <Handle type="target" position={Position.Left} className="invisible" />
      <Handle type="source" position={Position.Right} className="invisible" />
      <p className="truncate text-[13px] font-semibold" title={name}>
        {name}
      </p>
      {lines.map(({ text, title }) => (
        <p key={title} className="truncate" style={{ lineHeight: `${BOX_LINE}px` }} title={title}>
          {text}
        </p>
      ))}
    </div>
  );
}

function Link({ id, data, markerEnd }: EdgeProps<LinkEdge>) {
  if (!data) return null;
  const { points, label, labelAt, dashed } = data;
  return (
    <BaseEdge
      id={id}
      path={smooth(points)}
      {...(markerEnd ? { markerEnd } : {})}
      style={{ stroke: 'var(--muted)', ...(dashed ? { strokeDasharray: '6 4' } : {}) }}
      label={label}
      labelX={labelAt.x}
      labelY={labelAt.y}
      labelStyle={{ fill: 'var(--text)', fontSize: 11 }}
      labelBgStyle={{ fill: 'var(--surface)' }}
      labelBgPadding={[3, 1]}
    />
  );
}

/** Through the middles between the points, bent at the points. */
function smooth([first, ...rest]: readonly Point[]): string {
  if (!first) return '';
  const bends = rest.slice(0, -1).map((point, at) => {
    const next = rest[at + 1]!;
    const end =
      at === rest.length - 2 ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q ${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  const last = rest.at(-1);
  const straight = last ? [`L ${last.x} ${last.y}`] : [];
  return [`M ${first.x} ${first.y}`, ...(bends.length > 0 ? bends : straight)].join(' ');
}

const nodeTypes = { box: Box };
const edgeTypes = { link: Link };

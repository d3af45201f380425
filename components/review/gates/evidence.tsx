'use client';
import type { EvidenceContent, GoldContent } from '../../../lib/pipeline/stages/artefacts';
import type { EvidencePath } from '../../../lib/translation/evidence/gold/evidence-paths';
import type { PathUse } from '../../../lib/translation/evidence/gold/path-use';
import { CodeBlock } from '../../text/code-block';
import { printExtendedMql } from '../../../lib/mql/print-extended-json';
import { WordDiff } from '../../text/word-diff';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import type { GateProps } from '../gate-props';

import { ItemHead } from './item-head';
import { useArtefact } from './use-artefact';

export function EvidenceGate({ task, content, edit }: GateProps<EvidenceContent>) {
  const gold = useArtefact<GoldContent>(task.databaseId, 'gold', task.key);
  return (
    <div className="space-y-3">
      <ItemHead item={task.item} sql={false} />
      <Card
        title="Evidence"
        actions={
          edit ? (
            <Button onClick={() => edit()} shortcut="e">
              Edit
            </Button>
          ) : null
        }
      >
        <WordDiff before={content.evidence} after={content.evidenceMql} />
        {content.evidence === content.evidenceMql ? (
          <p className="text-[13px] text-muted">No field names; unchanged.</p>
        ) : null}
        <div className="mt-2 flex flex-wrap gap-1.5">
          {content.paths.map((path) => (
            <Badge key={path.path} tone={useOf(path).tone} title={useOf(path).title}>
              {path.path} · {useOf(path).label}
            </Badge>
          ))}
          {content.unmatched.map((note) => (
            <Badge key={note} tone="warn">
              {hasReason(note) ? note : `${note} · not rewritten`}
            </Badge>
          ))}
        </div>
      </Card>
      <div className="grid items-start gap-3 lg:grid-cols-2">
        <Card title="SQL">{task.item ? <CodeBlock text={task.item.sql} label="SQL" /> : null}</Card>
        <Card title="Gold MQL">
          {gold.data ? (
            <CodeBlock text={printExtendedMql(gold.data.mql)} label="Gold MQL" tall />
          ) : null}
        </Card>
      </div>
    </div>
  );
}

/** A name by itself stayed as it was; what says more is a sentence of its own. */
const hasReason = (note: string): boolean => note.includes(': ');

/** What each path of the evidence is for the gold query. */
const PATH_USE = {
  used: {
    tone: 'good',
    label: 'used by the gold query',
    title: 'The gold query uses this field, with the value that the evidence gives.',
  },
  join_key: {
    tone: 'neutral',
    label: 'join key',
    title: 'The SQL joins by this column; the design makes the join unnecessary.',
  },
  source_flaw: {
    tone: 'accent',
    label: 'source differs',
    title: 'The SQL of the source uses another column, value, order, or count.',
  },
  doubt: {
    tone: 'warn',
    label: 'check',
    title: 'The gold query does not use this field, or not with this value.',
  },
  unknown: {
    tone: 'bad',
    label: 'not in the design',
    title: 'The design has no such field.',
  },
} as const satisfies Record<PathUse, unknown>;

/** What an earlier release stored does not say. */
const useOf = ({ use }: Partial<EvidencePath>) => PATH_USE[use ?? 'doubt'];

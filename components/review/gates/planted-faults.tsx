import { useState } from 'react';
import type { PlantedFaults } from '../../../lib/validation/planted-faults';
import { counted, number } from '../../format';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { PlainTable } from '../../ui/plain-table';
import { faultRows, unnamedFaults } from './fault-rows';
import { MappingLink } from './mapping-link';

export function faultsInShort({ planted, holes }: PlantedFaults): string {
  if (holes.length > 0) return `${number(holes.length)} of ${number(planted)} mutations undetected`;
  if (planted === 0) return 'no mutation tests: there are no documents';
  return planted === 1
    ? '1 of 1 mutations detected'
    : `${number(planted)} of ${number(planted)} mutations detected`;
}

// A wide collection has more than a thousand.
const SHOWN = 200;

/** The mutations one by one, undetected ones first. */
export function FaultList({
  faults,
  goTo,
}: {
  readonly faults: PlantedFaults;
  readonly goTo: (mapping: string) => void;
}) {
  const [whole, setWhole] = useState(false);
  const rows = faultRows(faults).map((row, at) => ({ ...row, at }));
  const unnamed = unnamedFaults(faults);
  return (
    <>
      {rows.length > 0 ? (
        <PlainTable
          label="Mutation tests"
          rows={whole ? rows : rows.slice(0, SHOWN)}
          rowKey={(row) => String(row.at)}
          columns={[
            { head: 'Fault', cell: (row) => row.kind },
            {
              head: 'Mutated field',
              cell: (row) => <code className="font-mono text-xs wrap-anywhere">{row.path}</code>,
            },
            {
              head: 'Caught by',
              cell: (row) =>
                row.caughtBy === null ? (
                  <Badge tone="bad">no mapping</Badge>
                ) : (
                  <MappingLink name={row.caughtBy} goTo={goTo} />
                ),
            },
          ]}
        />
      ) : null}
      {rows.length > SHOWN && !whole ? (
        <p className="p-2">
          <Button onClick={() => setWhole(true)}>
            Show the other {number(rows.length - SHOWN)}
          </Button>
        </p>
      ) : null}
      {unnamed.length > 0 ? (
        <div className="space-y-1 p-3 text-[13px]">
          <p className="text-muted">
            These mutations were not recorded one by one; run the validation again to list them.
          </p>
          <ul>
            {unnamed.map(({ mapping, faults: count }) => (
              <li key={mapping}>
                <MappingLink name={mapping} goTo={goTo} /> caught {counted(count, 'fault')}
              </li>
            ))}
          </ul>
        </div>
      ) : null}
    </>
  );
}

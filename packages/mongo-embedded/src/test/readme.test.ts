import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { accumulatorNames } from '../accumulators/accumulator';
import { knownIndexOptions } from '../commands/indexes';
import { operatorNames } from '../expressions/expression';
import { queryOperatorNames } from '../query/match';
import '../stages/language';
import { stageNames } from '../stages/stage';
import { windowFunctionNames } from '../stages/window';
import { updateOperatorNames } from '../update/update';
import { commandNames, describingStages, refusedCommands } from '../wire/local-commands';

const folder = path.join(import.meta.dirname, '../..');
const readme = readFileSync(path.join(folder, 'README.md'), 'utf8');

/** The one paragraph of a section that consists of names in code style, separated by commas. */
function listOf(heading: string): string[] {
  const start = readme.indexOf(`\n${heading}\n`);
  expect(start, heading).toBeGreaterThan(0);
  const section = readme.slice(start + heading.length + 2).split(/\n##/)[0] ?? '';
  const paragraphs = section.split('\n\n').map((text) => text.trim());
  const lists = paragraphs.filter((text) => /^`[^`]+`(,\s+`[^`]+`)*$/.test(text));
  expect(lists.length, heading).toBe(1);
  return [...(lists[0] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] as string);
}

it.each([
  ['### Stages', [...stageNames(), ...Object.keys(describingStages), '$out', '$merge']],
  ['### Expression operators', operatorNames()],
  ['### Accumulators', accumulatorNames],
  ['### Window functions', windowFunctionNames],
  ['### Query operators', queryOperatorNames],
  ['### Update operators', updateOperatorNames],
  ['### Indexes', [...knownIndexOptions]],
])('the list under "%s" is that of the server', (heading, names) => {
  expect(listOf(heading)).toEqual([...names].sort());
});

it.each([
  ['### Commands', commandNames()],
  ['## What it refuses', Object.keys(refusedCommands)],
])('the commands under "%s" are those of the server', (heading, names) => {
  const listed = listOf(heading).map((name) => name.toLowerCase());
  expect(listed.sort()).toEqual([...names].sort());
});

it.each([
  ['aggregation', /`cases\/aggregation`: (\d+) /],
  ['commands', /`cases\/commands`: (\d+) /],
])('the number of cases in cases/%s is right', (name, pattern) => {
  const cases = readdirSync(path.join(folder, 'cases', name)).flatMap((file) =>
    readFileSync(path.join(folder, 'cases', name, file), 'utf8')
      .split('\n')
      .filter(Boolean),
  );
  expect(Number(pattern.exec(readme)?.[1])).toBe(cases.length);
});

import type { Catalog } from '../sqlite/catalog';
import { isTotal, type Profile, type Relationship } from '../sqlite/profile';
import { MAX_COPIED_COLUMNS, proposeCopy, shortColumns } from './copies';
import type { CannotAct, Directive } from './directive';
import { describeDesign } from './design-document';
import type { CollectionDesign, ConceptualDesign, IdRule, PatternUse, RelationshipChoice, Strategy } from './document-design';
import { legalCollectionName, legalFieldName, NameSet } from './names';
import { identity } from './transform';
import type { Workload } from './workload';

export interface DesignLimits {
  readonly maxArrayP99: number;
  readonly maxArray: number;
}

/** MongoDB's limit of a document, and the margin by which a forecast must stay below it (DESIGN §5). */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
export const DOCUMENT_MARGIN = 2;
/** Arrays in arrays in arrays: deeper nesting is hard to query and to update. */
const MAX_DEPTH = 3;

export interface ProposalInput {
  readonly catalog: Catalog;
  readonly profile: Profile;
  readonly workload: Workload;
  readonly strategy: Strategy;
  readonly limits: DesignLimits;
  readonly directives: readonly Directive[];
}

export interface Proposal {
  readonly design: ConceptualDesign;
  readonly cannotAct: readonly CannotAct[];
}

/**
 * Proposes a conceptual design. Children are embedded where that loses nothing (every child has exactly one parent),
 * stays bounded, and serves the workload; everything else is referenced. A table has one placement: where several
 * relationships could take it, the one whose tables the workload reads together most often wins.
 */
export function proposeDesign(input: ProposalInput): Proposal {
  const { catalog, profile, workload, strategy, directives } = input;
  const cannotAct: CannotAct[] = [];
  const embedded = new Map<string, Relationship>();
  const reasons = new Map<string, { reason: string; directed: boolean }>();
  const copied = new Set<string>();

  const wishes = new Map<string, Directive & { kind: 'relationship' }>();
  for (const directive of directives) {
    if (directive.kind === 'relationship') wishes.set(directive.relationship, directive);
    if (directive.kind === 'free_text') cannotAct.push({ directive, reason: 'free text needs a language model: send it to another agent, or edit the design' });
  }
  for (const [id, directive] of wishes) {
    const relationship = profile.relationships.find((candidate) => candidate.id === id);
    if (!relationship) {
      cannotAct.push({ directive, reason: `there is no relationship ${id}` });
    } else if (directive.choice === 'reference') {
      reasons.set(id, { reason: 'Referenced because a reviewer directed it.', directed: true });
    } else if (directive.choice === 'copy') {
      const obstacle = copyObstacle(relationship, profile);
      if (obstacle) cannotAct.push({ directive, reason: obstacle });
      else {
        copied.add(id);
        reasons.set(id, { reason: 'Copied because a reviewer directed it.', directed: true });
      }
    } else {
      const obstacle = hardObstacle(relationship, input, embedded);
      if (obstacle) cannotAct.push({ directive, reason: obstacle });
      else {
        embedded.set(relationship.childTable, relationship);
        reasons.set(id, { reason: `Embedded because a reviewer directed it. ${numbers(relationship)}`, directed: true });
      }
    }
  }

  if (strategy === 'access-pattern') {
    const order = candidatesInOrder(profile, workload).filter((relationship) => !reasons.has(relationship.id));
    // A table can be embedded once those that refer to it are embedded in it: passes go on until none adds anything.
    for (let before = -1; before !== embedded.size; ) {
      before = embedded.size;
      for (const relationship of order) {
        if (embedded.has(relationship.childTable)) continue;
        const obstacle = hardObstacle(relationship, input, embedded) ?? softObstacle(relationship, input, embedded);
        if (obstacle) {
          reasons.set(relationship.id, { reason: `Referenced: ${obstacle}.`, directed: false });
        } else {
          embedded.set(relationship.childTable, relationship);
          const together = readTogether(workload, relationship);
          const use = together > 0 ? ` ${together} ${together === 1 ? 'query' : 'queries'} of the workload read both tables.` : '';
          reasons.set(relationship.id, { reason: `Embedded: every child has exactly one parent and the array is bounded. ${numbers(relationship)}${use}`, directed: false });
        }
      }
    }
  }

  if (strategy === 'fk-embedding') for (const relationship of foreignKeyEmbeddings(catalog, profile)) embedded.set(relationship.childTable, relationship);

  const collections = nameCollections(catalog, profile, embedded, directives);
  const relationships = withCopies(nameChoices(profile, catalog, embedded, reasons, strategy), copied, input);
  const patterns: PatternUse[] = [];
  const draft = { database: catalog.database, strategy, collections, relationships, patterns };
  return { design: { ...draft, document: describeDesign(draft, catalog, profile, workload) }, cannotAct };
}

/** The baseline cannot convert this database; the message says why (the paper's Table 3). */
export class StrategyFails extends Error {}

/**
 * The foreign-key baseline (TEND-v2, as the paper describes it in §7): a table with one foreign key is nested in its
 * parent, whatever the data; a table with several links others and stays a collection. Rows without a parent are not
 * looked at: they get lost. Self-references and cycles cannot be nested.
 */
function foreignKeyEmbeddings(catalog: Catalog, profile: Profile): Relationship[] {
  const declared = profile.relationships.filter((relationship) => relationship.declared);
  const self = declared.find((relationship) => relationship.selfReference);
  if (self) throw new StrategyFails(`${self.childTable} refers to itself (${self.childColumns.join(', ')})`);
  const chosen = catalog.tables.flatMap((table) => {
    const keys = declared.filter((relationship) => relationship.childTable === table.name);
    return keys.length === 1 ? keys : [];
  });
  const parents = new Map(chosen.map((relationship) => [relationship.childTable, relationship.parentTable]));
  for (const start of parents.keys()) {
    const seen = new Set([start]);
    for (let at = parents.get(start); at !== undefined; at = parents.get(at)) {
      if (seen.has(at)) throw new StrategyFails(`the foreign keys of ${[...seen].join(', ')} form a cycle`);
      seen.add(at);
    }
  }
  return chosen;
}

/** Most often read together first; then the narrower array; then by name, so that the result never depends on order. */
function candidatesInOrder(profile: Profile, workload: Workload): Relationship[] {
  return [...profile.relationships].sort(
    (a, b) =>
      readTogether(workload, b) - readTogether(workload, a) ||
      Number(b.declared) - Number(a.declared) ||
      a.fanOut.max - b.fanOut.max ||
      (a.id < b.id ? -1 : 1),
  );
}

export const readTogether = (workload: Workload, relationship: Relationship): number =>
  workload.patterns.filter((pattern) => pattern.relationships.includes(relationship.id)).reduce((sum, pattern) => sum + pattern.frequency, 0);

const readWithout = (workload: Workload, table: string, parent: string): number =>
  workload.patterns.filter((pattern) => pattern.tables.includes(table) && !pattern.tables.includes(parent)).reduce((sum, pattern) => sum + pattern.frequency, 0);

/** Why embedding would lose data or break a limit; neither the engine nor a directive may pass this. */
export function hardObstacle(relationship: Relationship, input: Pick<ProposalInput, 'profile' | 'limits'>, embedded: ReadonlyMap<string, Relationship>): string | undefined {
  const { childTable, parentTable, fanOut } = relationship;
  if (relationship.selfReference) return `${childTable} refers to itself, and a document cannot contain itself`;
  if (!relationship.parentIsKey) return `${relationship.parentColumns.join(', ')} of ${parentTable} is not unique, so a child could belong to several parents`;
  if (!isTotal(relationship)) return `${unplaceable(relationship)}: embedding would lose them`;
  if (fanOut.max > input.limits.maxArray) return `one ${parentTable} has ${fanOut.max} rows of ${childTable}, beyond the limit of ${input.limits.maxArray}`;
  const taken = embedded.get(childTable);
  if (taken && taken.id !== relationship.id) return `${childTable} is embedded in ${taken.parentTable} already`;
  let depth = 1 + heightBelow(childTable, embedded);
  for (let at: Relationship | undefined = embedded.get(parentTable); at; at = embedded.get(at.parentTable)) {
    if (at.parentTable === childTable) return `${parentTable} is itself embedded in ${childTable}`;
    depth++;
  }
  if (depth > MAX_DEPTH) return `it would nest more than ${MAX_DEPTH} levels deep`;
  const bytes = forecastBytes(relationship, input.profile);
  if (bytes * DOCUMENT_MARGIN > MAX_DOCUMENT_BYTES) return `the largest document would reach about ${Math.round(bytes / 1e6)} MB`;
  return undefined;
}

/** The rows that no parent would hold, in words. */
function unplaceable({ childTable, parentTable, orphans, nullKeys }: Relationship): string {
  const parts = [orphans > 0 ? `${orphans} point to no row of ${parentTable}` : '', nullKeys > 0 ? `${nullKeys} have no key` : ''].filter((part) => part !== '');
  return `of the rows of ${childTable}, ${parts.join(' and ')}`;
}

/** Levels of tables that are embedded below this one. */
function heightBelow(table: string, embedded: ReadonlyMap<string, Relationship>): number {
  const children = [...embedded.values()].filter((relationship) => relationship.parentTable === table);
  return children.reduce((height, child) => Math.max(height, 1 + heightBelow(child.childTable, embedded)), 0);
}

function softObstacle(relationship: Relationship, input: ProposalInput, embedded: ReadonlyMap<string, Relationship>): string | undefined {
  const { childTable, parentTable, fanOut } = relationship;
  const { profile, workload, limits } = input;
  if (fanOut.p99 > limits.maxArrayP99) return `1 % of the ${parentTable} rows have more than ${limits.maxArrayP99} rows of ${childTable} (p99 ${fanOut.p99})`;
  if (profile.tables.find((table) => table.table === childTable)?.rowCount === 0) return `${childTable} is empty, so nothing shows how large its arrays would become`;
  const referrers = profile.relationships.filter((other) => other.parentTable === childTable && !other.selfReference && embedded.get(other.childTable)?.id !== other.id);
  const independent = referrers.filter((other) => profile.tables.find((table) => table.table === other.childTable)?.rowCount !== 0);
  if (independent.length > 0) return `${childTable} is referred to by ${independent.map((other) => other.childTable).join(', ')}, which need it as documents of its own`;
  const [together, alone] = [readTogether(workload, relationship), readWithout(workload, childTable, parentTable)];
  if (alone > together) return `the workload reads ${childTable} without ${parentTable} more often (${alone}) than with it (${together})`;
  return undefined;
}

/** Why the parent's columns cannot be repeated beside a reference. */
function copyObstacle({ parentIsKey, parentTable, parentColumns, ...relationship }: Relationship, profile: Profile): string | undefined {
  if (!parentIsKey) return `${parentColumns.join(', ')} of ${parentTable} is not unique, so that a reference has no one row to copy from`;
  if (shortColumns({ ...relationship, parentIsKey, parentTable, parentColumns }, profile).length === 0) return `${parentTable} has no column besides its key that is short enough to copy`;
  return undefined;
}

/** References become copies where the workload reads a few short columns of the parent with them, or a directive says so. */
function withCopies(choices: readonly RelationshipChoice[], directed: ReadonlySet<string>, { catalog, profile, workload, strategy }: ProposalInput): RelationshipChoice[] {
  const copies = new Map(
    choices.flatMap((choice) => {
      const relationship = profile.relationships.find(({ id }) => id === choice.relationship);
      if (!relationship || choice.choice === 'embed' || (choice.directed && !directed.has(choice.relationship))) return [];
      const proposal = proposeCopy(relationship, profile, workload);
      if (directed.has(choice.relationship)) {
        const columns = proposal?.columns ?? shortColumns(relationship, profile).slice(0, MAX_COPIED_COLUMNS);
        return [[choice.relationship, { relationship, columns, reason: choice.reason }] as const];
      }
      if (strategy !== 'access-pattern' || !proposal || !relationship.parentIsKey || relationship.selfReference) return [];
      const { columns, served, joined } = proposal;
      const reason = `Referenced with a copy of ${columns.join(', ')}: of ${joined} ${joined === 1 ? 'query' : 'queries'} with a join to ${relationship.parentTable} here, ${served} ${served === 1 ? 'reads' : 'read'} no other column of it. ${choice.reason.replace(/^Referenced:/, 'Not embedded:')}`;
      return [[choice.relationship, { relationship, columns, reason }] as const];
    }),
  );
  return choices.map((choice): RelationshipChoice => {
    const copy = copies.get(choice.relationship);
    if (!copy) return choice;
    const { childTable, parentTable } = copy.relationship;
    const isOnly = [...copies.values()].filter(({ relationship }) => relationship.childTable === childTable && relationship.parentTable === parentTable).length === 1;
    return { ...choice, choice: 'copy', field: copyName(copy.relationship, isOnly, catalog), columns: copy.columns, reason: copy.reason };
  });
}

/** Named after the parent; after the key where the row refers to the parent in several roles. */
function copyName({ childTable, childColumns, parentTable }: Relationship, isOnly: boolean, catalog: Catalog): string {
  const taken = catalog.tables.find(({ name }) => name === childTable)?.columns.map(({ name }) => name.toLowerCase()) ?? [];
  const role = childColumns.length === 1 ? (childColumns[0] ?? '').replace(/_?(?:id|code|key|no)$/i, '') : '';
  const wanted = (isOnly ? [parentTable, role] : [role, parentTable]).filter((name) => name !== '');
  return legalFieldName(wanted.find((name) => !taken.includes(name.toLowerCase())) ?? parentTable);
}

/** Bytes of the largest document that the embedding would build, from the measured fan-out and mean row sizes. */
export function forecastBytes(relationship: Relationship, profile: Profile): number {
  const bytes = (table: string): number => {
    const found = profile.tables.find((candidate) => candidate.table === table);
    // Field names and BSON framing come to about 20 bytes a value.
    return found ? found.meanRowBytes + found.columns.length * 20 : 0;
  };
  const widest = (table: string): number => {
    const found = profile.tables.find((candidate) => candidate.table === table);
    return found ? found.columns.reduce((sum, column) => sum + column.maxBytes, 0) : 0;
  };
  return bytes(relationship.parentTable) + widest(relationship.parentTable) + relationship.fanOut.max * bytes(relationship.childTable) + widest(relationship.childTable);
}

const numbers = (relationship: Relationship): string => {
  const { mean, p99, max } = relationship.fanOut;
  return `Each row of ${relationship.parentTable} has ${mean.toFixed(1)} rows of ${relationship.childTable} on average, p99 ${p99}, at most ${max}; no orphans, no null keys.`;
};

function nameCollections(catalog: Catalog, profile: Profile, embedded: ReadonlyMap<string, Relationship>, directives: readonly Directive[]): CollectionDesign[] {
  const names = new NameSet();
  return catalog.tables
    .filter((table) => !embedded.has(table.name))
    .map((table) => {
      const renamed = directives.findLast((directive) => directive.kind === 'rename_collection' && directive.table === table.name);
      const wanted = renamed?.kind === 'rename_collection' ? renamed.name : table.name;
      return { name: names.take(legalCollectionName(wanted)), rootTable: table.name, id: idRuleFor(table.name, catalog, profile) };
    });
}

/** The primary key where it is one column that the data keeps unique and filled; else the row's ordinal. */
export function idRuleFor(tableName: string, catalog: Catalog, profile: Profile): IdRule {
  const table = catalog.tables.find((candidate) => candidate.name === tableName)!;
  const keys = profile.tables.find((candidate) => candidate.table === tableName)?.keys ?? [];
  const [column, ...more] = table.primaryKey;
  const holds = column !== undefined && more.length === 0 && keys.some((key) => key.length === 1 && key[0] === column);
  return holds ? { kind: 'column', column, transform: identity } : { kind: 'ordinal' };
}

function nameChoices(
  profile: Profile,
  catalog: Catalog,
  embedded: ReadonlyMap<string, Relationship>,
  reasons: ReadonlyMap<string, { reason: string; directed: boolean }>,
  strategy: Strategy,
): RelationshipChoice[] {
  return profile.relationships.map((relationship) => {
    const known = reasons.get(relationship.id);
    const directed = known?.directed ? { directed: true } : {};
    if (embedded.get(relationship.childTable)?.id !== relationship.id) {
      const other = embedded.get(relationship.childTable);
      const reason = known?.reason ?? (strategy === 'one-to-one' ? 'Referenced: one-to-one keeps every table as a collection.' : `Referenced: ${relationship.childTable} is embedded in ${other?.parentTable ?? 'another table'}.`);
      return { relationship: relationship.id, choice: 'reference', reason, ...directed };
    }
    const child = catalog.tables.find((table) => table.name === relationship.childTable)!;
    const declaredUnique = [child.primaryKey, ...child.uniqueKeys].some((key) => key.length > 0 && key.every((column) => relationship.childColumns.includes(column)));
    return {
      relationship: relationship.id,
      choice: 'embed',
      field: legalFieldName(relationship.childTable),
      // Only a declared key makes "one at most" a rule; that small data happens to have no second child does not.
      cardinality: declaredUnique ? 'one' : 'many',
      reason: known?.reason ?? '',
      ...directed,
    };
  });
}

import type { ConceptualDesignAnswer } from '../../../agents/contract';
import type { Directive } from '../../design/model/directive';
import type {
  ConceptualDesign,
  DocumentDesign,
  IndexDesign,
  LogicalDesign,
} from '../../design/model/document-design';
import { checkDesign, type DesignProblem } from '../../design/limits/loss-check';
import type { TypeSettings } from '../../design/logical/retype';
import { readWorkload } from '../../design/model/read-workload';
import type { Workload } from '../../design/model/workload';
import { contentHash } from '../../results/hash';
import { askedJoins } from '../../sqlite/profile/asked-joins';
import { catalogOf } from '../../sqlite/schema/introspect';
import { openSource } from '../../sqlite/open';
import type { Catalog } from '../../sqlite/catalog';
import type { Profile } from '../../sqlite/profile/profile';
import { profileDatabase } from '../../sqlite/profile/profile-database';
import { QueryProcess } from '../../sqlite/query/query-process';
import { agentContext } from './agent-context';
import type { ProducedArtefact, Stage, StageInput } from './stage';

/** The content of a profile artefact. */
export interface ProfileContent {
  readonly catalog: Catalog;
  readonly profile: Profile;
}

/** An artefact that a stage needs is not there: an earlier stage has not run, or failed. */
export class MissingArtefact extends Error {
  constructor(kind: string, key: string) {
    super(`the ${kind.replaceAll('_', ' ')} of ${key} is missing: run the earlier stages first`);
  }
}

/** A design that loses data or breaks a limit never reaches a person, nor a database. */
export class DesignRefused extends Error {
  constructor(readonly problems: readonly DesignProblem[]) {
    super(
      `the design was refused: ${problems
        .slice(0, 5)
        .map((problem) => `${problem.subject}: ${problem.detail}`)
        .join('; ')}${problems.length > 5 ? `; and ${problems.length - 5} more` : ''}`,
    );
  }
}

export const profileStage: Stage = async (input, { progress, signal }) => {
  const sqlite = openSource(input.source.path);
  try {
    const catalog = catalogOf(sqlite, input.source);
    let done = 0;
    const onTable = (): void => {
      signal.throwIfAborted();
      progress(done++, catalog.tables.length, 'tables');
    };
    const profile = profileDatabase(sqlite, catalog, {
      onTable,
      asked: askedJoins(input.items, catalog),
    });
    const workload = readWorkload(input.items, catalog, profile);
    const rows = profile.tables.reduce((sum, table) => sum + table.rowCount, 0);
    const source = sourceInput(input);
    return {
      artefacts: [
        {
          kind: 'profile',
          key: input.source.name,
          content: { catalog, profile } satisfies ProfileContent,
          inputs: [source],
        },
        { kind: 'workload', key: input.source.name, content: workload, inputs: [source] },
      ],
      report: {
        tables: catalog.tables.length,
        rows,
        patterns: workload.patterns.length,
        unreadQueries: workload.unread.length,
      },
    };
  } finally {
    sqlite.close();
  }
};

// The source file and the questions never change within a benchmark; their hashes anchor the chain
// of inputs.
const sourceInput = (input: StageInput): ProducedArtefact['inputs'][number] => ({
  kind: 'profile',
  key: input.source.name,
  part: 'source',
  hash: input.source.sha256,
});

export const conceptualDesignStage: Stage = async (input, context) => {
  const database = input.source.name;
  const { catalog, profile } = await need<ProfileContent>(input, 'profile', database);
  const workload = await need<Workload>(input, 'workload', database);
  const earlier = await input.read<ConceptualDesign>({ kind: 'conceptual_design', key: database });
  const queries = QueryProcess.borrow();
  let answer: ConceptualDesignAnswer;
  try {
    answer = await input.agent.conceptualDesign(
      {
        strategy: input.settings.strategy,
        catalog,
        profile,
        workload,
        items: input.items,
        limits: input.settings,
        types: typesOf(input, workload),
        ...(earlier ? { earlier } : {}),
        directives: input.directives,
        query: (sql) =>
          queries.query(
            input.source.path,
            sql,
            { timeoutMs: 10_000, maxRows: 200, maxBytes: 1_000_000 },
            context.signal,
          ),
      },
      agentContext(input, context),
    );
  } finally {
    queries.giveBack();
  }
  const inputs = [
    await inputOf(input, 'profile', database),
    await inputOf(input, 'workload', database),
  ];
  return {
    artefacts: [
      {
        kind: 'conceptual_design',
        key: database,
        content: answer.design,
        inputs,
        gate: 'conceptual_design',
      },
      { kind: 'index_design', key: database, content: answer.indexes, inputs },
    ],
    report: {
      collections: answer.design.collections.length,
      embedded: answer.design.relationships.filter((choice) => choice.choice === 'embed').length,
      cannotAct: answer.cannotAct,
    },
  };
};

export const logicalDesignStage: Stage = async (input, context) => {
  const database = input.source.name;
  const { catalog, profile } = await need<ProfileContent>(input, 'profile', database);
  const conceptual = await need<ConceptualDesign>(input, 'conceptual_design', database);
  const workload = await need<Workload>(input, 'workload', database);
  const inputs = [
    await inputOf(input, 'conceptual_design', database),
    await inputOf(input, 'workload', database),
  ];
  const logical: LogicalDesign[] = [];
  for (const [index, { name }] of conceptual.collections.entries()) {
    context.signal.throwIfAborted();
    context.progress(index, conceptual.collections.length, 'collections');
    logical.push(
      await input.agent.logicalDesign(
        {
          collection: name,
          conceptual,
          catalog,
          profile,
          directives: input.directives,
          types: typesOf(input, workload),
        },
        agentContext(input, context),
      ),
    );
  }
  // The foreign-key baseline loses rows by its nature; that is what it is measured for.
  const problems = checkDesign({ conceptual, logical }, catalog, profile, input.settings).filter(
    (problem) => input.settings.strategy !== 'fk-embedding' || problem.kind === 'broken',
  );
  if (problems.length > 0) throw new DesignRefused(problems);
  return {
    artefacts: logical.map((design) => ({
      kind: 'logical_design',
      key: `${database}/${design.collection}`,
      content: design,
      inputs,
    })),
    report: { collections: logical.length },
  };
};

/** The baselines keep every type: they are measured as their authors built them. */
export const typesOf = ({ settings }: StageInput, { textUses = [] }: Workload): TypeSettings =>
  settings.strategy === 'access-pattern'
    ? { retype: settings.retype, identifiers: settings.identifiers, textUses }
    : { retype: 'never', identifiers: 'stored' };

/** The whole design as the current artefacts have it. */
export async function readDesign(input: StageInput): Promise<DocumentDesign> {
  const database = input.source.name;
  const conceptual = await need<ConceptualDesign>(input, 'conceptual_design', database);
  const logical = await Promise.all(
    conceptual.collections.map(({ name }) =>
      need<LogicalDesign>(input, 'logical_design', `${database}/${name}`),
    ),
  );
  return { conceptual, logical };
}

export const readIndexes = async (input: StageInput): Promise<IndexDesign> =>
  need<IndexDesign>(input, 'index_design', input.source.name);

export async function need<T>(
  input: StageInput,
  kind: ProducedArtefact['kind'],
  key: string,
): Promise<T> {
  const found = await input.read<T>({ kind, key });
  if (found === undefined) throw new MissingArtefact(kind, key);
  return found;
}

/** An input at the grain of the whole artefact. */
export async function inputOf(
  input: StageInput,
  kind: ProducedArtefact['kind'],
  key: string,
): Promise<ProducedArtefact['inputs'][number]> {
  return { kind, key, hash: contentHash(await need(input, kind, key)) };
}

/** Directives that concern one item. */
export const directivesFor = (directives: readonly Directive[], questionId: string): Directive[] =>
  directives.filter(
    (directive) => 'questionId' in directive && directive.questionId === questionId,
  );

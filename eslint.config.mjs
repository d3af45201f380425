import tseslint from 'typescript-eslint';

// DESIGN §4. Within lib, a folder imports only from folders before it in these lists; engines never
// import the platform.
const engines = [
  'results',
  'sqlite',
  'mql',
  'mongo',
  'design',
  'migration',
  'validation',
  'translation',
  'evaluation',
  'studies',
  'bundle',
];
/** Their rooms, in the same order. */
const translation = ['mql', 'lower', 'plan', 'rewrite', 'emit', 'rules', 'check', 'evidence'];
const evidence = ['formula', 'print', 'gold', 'names'];
const design = ['model', 'logical', 'limits', 'patterns', 'cost', 'document', 'propose'];
const platform = [
  'db',
  'auth',
  'http',
  'pipeline',
  'artefacts',
  'review',
  'benchmarks',
  'releases',
];
const outside = ['agents', 'app', 'components', 'cli', 'sample'];

/** Packages are entered by their public names alone, as other projects would. */
const intoPackages = {
  regex: '^(\\.\\./)+packages(/|$)|^@/packages(/|$)|^mongo-embedded/src(/|$)',
  message: 'import a package by its name and the entries that its package.json exports',
};

const outOfPackage = {
  regex: `^(\\.\\./)+(lib|${outside.join('|')}|scripts)(/|$)|^@/`,
  message: 'a package imports nothing of the product',
};

/** The embedded server's rooms: each imports only from those before it. */
const serverRooms = [
  'bson',
  'values',
  'expressions',
  'accumulators',
  'query',
  'update',
  'stages',
  'storage',
  'planner',
  'commands',
  'wire',
];
/** What starts the server; no room imports it. */
const serverEntries = ['command', 'process', 'serve-folder', 'start', 'worker'];

/** Forbids imports that leave for one of these folders, however many levels up they start. */
const forbid = (files, folders, why, ignores = []) => ({
  files,
  ignores: ['**/*.test.ts', '**/test/**', ...ignores],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            regex: `^(\\.\\./)+(lib/)?(${folders.join('|')})(/|$)|^@/(lib/)?(${folders.join('|')})(/|$)`,
            message: why,
          },
          intoPackages,
        ],
      },
    ],
  },
});

export default tseslint.config(
  {
    ignores: [
      'node_modules',
      '.next',
      '.data',
      'lib/db/generated',
      'next-env.d.ts',
      'test-results',
      'playwright-report',
      '**/out',
    ],
  },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    rules: {
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', destructuredArrayIgnorePattern: '^_' },
      ],
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      'no-empty': ['error', { allowEmptyCatch: false }],
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    ignores: ['packages/**'],
    rules: { 'no-restricted-imports': ['error', { patterns: [intoPackages] }] },
  },
  {
    // Tests as well: they run where the package is installed alone.
    files: ['packages/**/*.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: [outOfPackage] }] },
  },
  ...serverRooms.map((room, position) => {
    const later = [...serverRooms.slice(position + 1), ...serverEntries].join('|');
    const upwards = {
      regex: `^(\\.\\./)+(${later})(/|$)`,
      message: `${room} may import only from the rooms before it: ${serverRooms.join(', ')}`,
    };
    return {
      files: [`packages/mongo-embedded/src/${room}/**/*.ts`],
      ignores: ['**/*.test.ts'],
      rules: { 'no-restricted-imports': ['error', { patterns: [outOfPackage, upwards] }] },
    };
  }),
  { files: ['**/*.ts', '**/*.tsx'], rules: { 'no-nested-ternary': 'error' } },
  {
    // A function that fits a screen has one subject.
    files: ['**/*.ts'],
    ignores: ['**/*.test.ts', '**/test/**', 'e2e/**'],
    rules: {
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
      'max-depth': ['error', 4],
    },
  },
  {
    files: ['**/*.tsx'],
    rules: {
      'max-lines-per-function': ['error', { max: 150, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    // Columns are called `toString` and `constructor`, too, and every object has those.
    files: ['lib/**/*.ts', 'agents/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "BinaryExpression[operator='in'][left.type!='Literal'][left.type!='PrivateIdentifier']",
          message: 'a name of the source may be one that every object has: Object.hasOwn',
        },
      ],
    },
  },
  ...engines.map((name, at) =>
    forbid(
      [`lib/${name}/**/*.ts`],
      [...engines.slice(at + 1), ...platform, ...outside],
      `lib/${name} may import only from the layers above it`,
    ),
  ),
  ...design.map((name, index) =>
    forbid(
      [`lib/design/${name}/**/*.ts`],
      [
        ...design.slice(index + 1),
        ...engines.slice(engines.indexOf('design') + 1),
        ...platform,
        ...outside,
      ],
      `lib/design/${name} imports only from the rooms before it: ${design.join(' < ')}`,
    ),
  ),
  ...translation.map((name, index) =>
    forbid(
      [`lib/translation/${name}/**/*.ts`],
      [
        ...translation.slice(index + 1),
        'translate',
        'index-suggestions',
        ...engines.slice(engines.indexOf('translation') + 1),
        ...platform,
        ...outside,
      ],
      `lib/translation/${name} imports only from the rooms before it: ${translation.join(' < ')}`,
    ),
  ),
  ...evidence.map((name, index) =>
    forbid(
      [`lib/translation/evidence/${name}/**/*.ts`],
      [
        ...evidence.slice(index + 1),
        'translate',
        'index-suggestions',
        ...engines.slice(engines.indexOf('translation') + 1),
        ...platform,
        ...outside,
      ],
      `evidence/${name} imports only from the rooms before it: ${evidence.join(' < ')}`,
    ),
  ),
  forbid(
    ['agents/**/*.ts'],
    [...platform, 'app', 'components', 'cli'],
    'agents are built on the engines alone',
  ),
  ...platform.map((name, index) =>
    forbid(
      [`lib/${name}/**/*.ts`],
      [...platform.slice(index + 1), 'app', 'components', 'cli'],
      `lib/${name} imports only from the rooms before it: ${platform.join(' < ')}`,
      ['lib/pipeline/stages/**'],
    ),
  ),
  // The stages are what the command line calls without Postgres.
  forbid(
    ['lib/pipeline/stages/**/*.ts'],
    [...platform.filter((room) => room !== 'pipeline'), 'app', 'components', 'cli'],
    'stages are pure: no database of ours',
  ),
  forbid(
    ['components/**/*.ts', 'components/**/*.tsx'],
    [
      'db',
      'auth/(?!account-api)',
      'mongo',
      'migration',
      'translation/(?!check/equivalence)',
      'bundle',
      'app',
      'cli',
    ],
    'components take types of lib, and what a browser can run',
  ),
);

import { Doc } from '../bson/doc';
import { badValue, failedToParse, typeMismatch, unsupported } from '../errors';
import { compareUtf8, type StringOrder } from './compare';
import { typeName, type Value } from '../bson/value';

/** How strings compare: by bytes, or by a locale's rules. */
export interface Collation {
  readonly order: StringOrder;
  readonly simple: boolean;
  /** The same for collations that say the same. */
  readonly name: string;
  /** Strings that compare as equal have the same fold; others may have it too. */
  readonly fold: (s: string) => string;
  /** The folds of all strings that may be equal to this one; null: any string may be. */
  readonly folds: (s: string) => readonly string[] | null;
}
export const simpleCollation: Collation = {
  order: compareUtf8,
  simple: true,
  name: 'simple',
  fold: (s) => s,
  folds: (s) => [s],
};

/** What a collation says where it leaves something open. */
const defaults: Readonly<Record<string, Value>> = {
  caseLevel: false,
  caseFirst: 'off',
  strength: 3,
  numericOrdering: false,
  alternate: 'non-ignorable',
  maxVariable: 'punct',
  normalization: false,
  backwards: false,
  version: '57.1',
};

/**
 * A collation in the form in which the server stores and shows it; undefined for the simple one.
 */
export function completeCollation(spec: Doc): Doc | undefined {
  if (parseCollation(spec).simple) return undefined;
  return Doc.of({
    locale: spec.get('locale'),
    ...Object.fromEntries(
      Object.entries(defaults).map(([key, value]) => [key, spec.get(key) ?? value]),
    ),
  });
}

/**
 * Locales of Latin letters that make no letters out of several ASCII characters and none of two the
 * same.
 */
const plainLocales = new Set([
  'en',
  'en_US',
  'en_GB',
  'fr',
  'fr_FR',
  'de',
  'de_DE',
  'es',
  'es_ES',
  'it',
  'it_IT',
  'pt',
  'pt_BR',
  'pt_PT',
  'nl',
  'nl_NL',
]);
const OTHER = '\u0001';

function folding(
  locale: string,
  numeric: boolean,
  ignoresPunctuation: boolean,
): Pick<Collation, 'fold' | 'folds'> {
  if (!plainLocales.has(locale)) return { fold: () => OTHER, folds: () => null };
  const fold = (s: string): string => {
    if (!/^[ -~]*$/.test(s)) return OTHER;
    let out = s.toLowerCase();
    if (ignoresPunctuation) out = out.replace(/[^a-z0-9]+/g, '');
    return numeric ? out.replace(/0+(?=\d)/g, '') : out;
  };
  // Among the others are those with accents, which may be equal to one without.
  return { fold, folds: (s) => (fold(s) === OTHER ? null : [fold(s), OTHER]) };
}

function oneOf(spec: Doc, key: string, allowed: readonly Value[]): Value {
  const value = spec.get(key) ?? defaults[key];
  if (!allowed.includes(value))
    throw badValue(
      `Enumeration value '${String(value)}' for field 'collation.${key}' is not a valid value.`,
    );
  return value;
}
function flag(spec: Doc, key: string): boolean {
  const value = spec.get(key) ?? defaults[key];
  if (typeof value !== 'boolean')
    throw typeMismatch(
      `BSON field 'collation.${key}' is the wrong type '${typeName(value)}', expected type 'bool'`,
    );
  return value;
}

/** Orders of a locale whose names are too long for a language tag. */
const variantTags: Readonly<Record<string, string>> = {
  phonebook: 'phonebk',
  traditional: 'trad',
  dictionary: 'dict',
};

function sensitivityOf(strength: number, caseLevel: boolean): Intl.CollatorOptions['sensitivity'] {
  if (strength >= 3) return 'variant';
  if (strength === 2) return 'accent';
  return caseLevel ? 'case' : 'base';
}

/** Reads a command's `collation`. Refuses what `Intl.Collator` cannot express exactly. */
export function parseCollation(spec: Doc | undefined): Collation {
  if (!spec || spec.size === 0) return simpleCollation;
  for (const key of spec.keys)
    if (key !== 'locale' && !Object.hasOwn(defaults, key))
      throw failedToParse(`BSON field 'collation.${key}' is an unknown field.`);
  const locale = spec.get('locale');
  if (typeof locale !== 'string') throw failedToParse("Field 'locale' is invalid in: collation");
  if (locale === 'simple') {
    if (spec.size > 1)
      throw badValue("If locale='simple', no other collation options may be present.");
    return simpleCollation;
  }
  const given = spec.get('strength') ?? 3;
  const strength = typeof given === 'number' || typeof given === 'bigint' ? Number(given) : given;
  if (strength !== 1 && strength !== 2 && strength !== 3 && strength !== 4 && strength !== 5)
    throw badValue(
      `Enumeration value '${String(given)}' for field 'collation.strength' is not a valid value.`,
    );
  const caseLevel = flag(spec, 'caseLevel');
  const caseFirst = oneOf(spec, 'caseFirst', ['off', 'upper', 'lower']) as
    'off' | 'upper' | 'lower';
  const alternate = oneOf(spec, 'alternate', ['non-ignorable', 'shifted']);
  const numeric = flag(spec, 'numericOrdering');
  if (oneOf(spec, 'maxVariable', ['punct', 'space']) === 'space')
    throw unsupported("collation option 'maxVariable'");
  if (caseLevel && strength !== 1)
    throw unsupported(`collation with caseLevel at strength ${strength}`);
  if (caseFirst !== 'off' && strength < 3 && !caseLevel)
    throw badValue(
      "'caseFirst' is invalid unless 'caseLevel' is on or 'strength' is greater than 2",
    );
  // Only in the collation of Canadian French are accents compared from the end, and there always.
  if (flag(spec, 'backwards') !== (locale === 'fr_CA') && spec.has('backwards'))
    throw unsupported("collation option 'backwards'");
  // The fourth level distinguishes what the third ignores: punctuation when it is shifted, and
  // hiragana from katakana.
  if (strength >= 4 && (alternate === 'shifted' || locale.startsWith('ja')))
    throw unsupported(`collation strength ${strength} with shifted punctuation or Japanese`);
  const name = JSON.stringify([locale, strength, caseLevel, caseFirst, alternate, numeric]);
  const [place = '', variant] = locale.split('@collation=');
  const tag = variant === undefined ? undefined : (variantTags[variant] ?? variant);
  let collator: Intl.Collator;
  try {
    collator = new Intl.Collator(
      `${place.replaceAll('_', '-')}${tag === undefined ? '' : `-u-co-${tag}`}`,
      {
        sensitivity: sensitivityOf(strength, caseLevel),
        numeric,
        caseFirst: caseFirst === 'off' ? 'false' : caseFirst,
        ignorePunctuation: alternate === 'shifted',
      },
    );
  } catch (error) {
    throw badValue(
      `Field 'locale' is invalid in: { locale: "${locale}" } (${(error as Error).message})`,
    );
  }
  // What is not known is left out without a word.
  if (tag !== undefined && collator.resolvedOptions().collation !== tag)
    throw unsupported(`collation locale '${locale}'`, 2);
  if (Intl.Collator.supportedLocalesOf(locale.slice(0, 2)).length === 0)
    throw badValue(`Field 'locale' is invalid in: { locale: "${locale}" }`);
  // The fifth level is the order of the code points of the decomposed text.
  const order: StringOrder =
    strength === 5
      ? (a, b) => collator.compare(a, b) || compareUtf8(a.normalize('NFD'), b.normalize('NFD'))
      : (a, b) => collator.compare(a, b);
  return { order, simple: false, name, ...folding(locale, numeric, alternate === 'shifted') };
}

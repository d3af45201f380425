import type { Doc } from '../bson/doc';
import { badValue, failedToParse, unsupported } from '../errors';
import { compareUtf8, type StringOrder } from './compare';

/** How strings compare: by bytes, or by a locale's rules. */
export interface Collation {
  readonly order: StringOrder;
  readonly simple: boolean;
}
export const simpleCollation: Collation = { order: compareUtf8, simple: true };

const known = new Set(['locale', 'strength', 'caseLevel', 'caseFirst', 'numericOrdering', 'alternate', 'maxVariable', 'normalization', 'backwards', 'version']);

/** Reads a command's `collation`. Refuses what `Intl.Collator` cannot express exactly. */
export function parseCollation(spec: Doc | undefined): Collation {
  if (!spec || spec.size === 0) return simpleCollation;
  for (const key of spec.keys) if (!known.has(key)) throw failedToParse(`BSON field 'collation.${key}' is an unknown field.`);
  const locale = spec.get('locale');
  if (typeof locale !== 'string') throw failedToParse("Field 'locale' is invalid in: collation");
  if (locale === 'simple') return simpleCollation;
  const strength = spec.get('strength') ?? 3;
  const caseLevel = spec.get('caseLevel') === true;
  const caseFirst = spec.get('caseFirst') ?? 'off';
  if (strength === 4 || strength === 5) throw unsupported(`collation strength ${strength}`);
  if (strength !== 1 && strength !== 2 && strength !== 3) throw badValue(`Enumeration value '${String(strength)}' for field 'collation.strength' is not a valid value.`);
  if (caseLevel && strength === 2) throw unsupported('collation with caseLevel at strength 2');
  if (spec.get('backwards') === true) throw unsupported("collation option 'backwards'");
  const alternate = spec.get('alternate') ?? 'non-ignorable';
  if (alternate !== 'non-ignorable' && alternate !== 'shifted') throw badValue(`Enumeration value '${String(alternate)}' for field 'collation.alternate' is not a valid value.`);
  if (spec.has('maxVariable') && spec.get('maxVariable') !== 'punct') throw unsupported("collation option 'maxVariable'");
  const sensitivity = strength === 3 ? 'variant' : strength === 2 ? 'accent' : caseLevel ? 'case' : 'base';
  let collator: Intl.Collator;
  try {
    collator = new Intl.Collator(locale.replace('_', '-').replace('@collation=', '-u-co-'), {
      sensitivity,
      numeric: spec.get('numericOrdering') === true,
      caseFirst: caseFirst === 'off' ? 'false' : (caseFirst as 'upper' | 'lower'),
      ignorePunctuation: alternate === 'shifted',
    });
  } catch (error) {
    throw badValue(`Field 'locale' is invalid in: { locale: "${locale}" } (${(error as Error).message})`);
  }
  if (Intl.Collator.supportedLocalesOf(locale.slice(0, 2)).length === 0) throw badValue(`Field 'locale' is invalid in: { locale: "${locale}" }`);
  return { order: (a, b) => collator.compare(a, b), simple: false };
}

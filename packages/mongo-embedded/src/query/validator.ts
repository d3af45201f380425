import { Doc } from '../bson/doc';
import { badValue, ServerError } from '../errors';
import { Environment, Scope } from '../expressions/expression';
import { typeName, type Value } from '../bson/value';
import { explainFilter } from './explain-mismatch';
import { parseFilter } from './match';

/** What a collection's `validator` demands of documents. */
export interface Validator {
  /** Throws DocumentValidationFailure (121). `before` is the document that is replaced. */
  check(doc: Doc, before: Doc | null): void;
}

const LEVELS: readonly Value[] = ['off', 'strict', 'moderate'];
const ACTIONS: readonly Value[] = ['error', 'warn'];

/**
 * Reads the options of `create` and `collMod` that have to do with validation; null when nothing is
 * demanded.
 */
export function parseValidator(options: Doc): Validator | null {
  const spec = options.get('validator');
  const level = options.get('validationLevel') ?? 'strict';
  const action = options.get('validationAction') ?? 'error';
  if (!LEVELS.includes(level))
    throw badValue(
      `Enumeration value '${String(level)}' for field 'validationLevel' is not a valid value.`,
    );
  if (!ACTIONS.includes(action))
    throw badValue(
      `Enumeration value '${String(action)}' for field 'validationAction' is not a valid value.`,
    );
  if (spec === undefined) return null;
  if (!(spec instanceof Doc))
    throw new ServerError(
      14,
      `BSON field 'create.validator' is the wrong type '${typeName(spec)}', expected type 'object'`,
    );
  const { test } = parseFilter(spec, Scope.root(new Environment()));
  if (spec.size === 0 || level === 'off' || action === 'warn') return null;
  return {
    check: (doc, before) => {
      if (test(doc)) return;
      // A document that was wrong already may stay so.
      if (level === 'moderate' && before && !test(before)) return;
      throw new ServerError(121, 'Document failed validation', {
        errInfo: Doc.of({
          failingDocumentId: doc.get('_id') ?? null,
          details: explainFilter(spec, doc),
        }),
      });
    },
  };
}

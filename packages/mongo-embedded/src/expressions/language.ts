import { accumulatorExpressions } from '../accumulators/accumulator';
import { arithmetic, trigonometry } from './arithmetic';
import { array, object } from './array';
import { date } from './date';
import { registerFamily } from './expression';
import { boolean, comparison, conditional } from './logic';
import { set } from './set';
import { string } from './string';
import { miscellaneous, type } from './type';

/** Every expression operator that exists, family by family as the manual groups them. */
for (const family of [
  arithmetic,
  trigonometry,
  array,
  object,
  boolean,
  comparison,
  conditional,
  date,
  set,
  string,
  type,
  miscellaneous,
  accumulatorExpressions,
]) {
  registerFamily(family);
}

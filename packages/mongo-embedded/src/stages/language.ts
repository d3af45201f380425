import { accumulatorExpressions } from '../accumulators/accumulator';
import { arithmetic, trigonometry } from '../expressions/arithmetic';
import { array, object } from '../expressions/array';
import { date } from '../expressions/date';
import { registerFamily } from '../expressions/expression';
import { boolean, comparison, conditional } from '../expressions/logic';
import { set } from '../expressions/set';
import { string } from '../expressions/string';
import { miscellaneous, type } from '../expressions/type';
import { basicStages } from './basic';
import { bucketStages } from './bucket';
import { describingStages } from './describe';
import { gapStages } from './gaps';
import { groupStages } from './group';
import { joinStages } from './join';
import { registerStages } from './stage';
import { windowStages } from './window';

/** Registers every expression operator, family by family as the manual groups them. */
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
])
  registerFamily(family);

/** Registers every pipeline stage. */
for (const stages of [
  basicStages,
  groupStages,
  bucketStages,
  describingStages,
  joinStages,
  windowStages,
  gapStages,
])
  registerStages(stages);

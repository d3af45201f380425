import '../expressions/language';
import { basicStages } from './basic';
import { bucketStages } from './bucket';
import { describingStages } from './describe';
import { gapStages } from './gaps';
import { groupStages } from './group';
import { joinStages } from './join';
import { registerStages } from './stage';
import { windowStages } from './window';

/** Every pipeline stage that exists. */
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

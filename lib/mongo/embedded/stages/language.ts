import '../expressions/language';
import { basicStages } from './basic';
import { bucketStages } from './bucket';
import { gapStages } from './gaps';
import { groupStages } from './group';
import { joinStages } from './join';
import { registerStages } from './stage';
import { windowStages } from './window';

/** Every pipeline stage that exists. */
for (const stages of [basicStages, groupStages, bucketStages, joinStages, windowStages, gapStages]) registerStages(stages);

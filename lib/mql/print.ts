import { extendedPipeline } from './extended-pipeline';
import { printExtendedMql, printExtendedValue } from './print-extended-json';

/** `printExtendedMql` of BSON values, as the driver has them. */
export const printMql = (collection: string, pipeline: readonly unknown[]): string =>
  printExtendedMql({ collection, pipeline: extendedPipeline(pipeline) });

/** One value in the same style. */
export const printValue = (value: unknown): string =>
  printExtendedValue(extendedPipeline([value])[0]);

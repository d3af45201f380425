/**
 * MongoDB's numbers for mistakes in the named arguments of operators that have numbers of their
 * own.
 */
interface ArgumentErrors {
  readonly notObject?: number;
  readonly unknown?: number;
  readonly missing?: Readonly<Record<string, number>>;
}

const trim: ArgumentErrors = { notObject: 50696, unknown: 50694, missing: { input: 50695 } };
const replace: ArgumentErrors = {
  notObject: 51751,
  unknown: 51750,
  missing: { input: 51749, find: 51748, replacement: 51747 },
};
const regex: ArgumentErrors = {
  notObject: 51103,
  unknown: 31024,
  missing: { input: 31022, regex: 31023 },
};
const shift: ArgumentErrors = {
  notObject: 5166400,
  unknown: 5166401,
  missing: { startDate: 5166402, unit: 5166402, amount: 5166402 },
};
const part: ArgumentErrors = { unknown: 40535, missing: { date: 40539 } };

const several: ArgumentErrors = {
  notObject: 5787900,
  unknown: 5787901,
  missing: { n: 5787906, input: 5787907 },
};
const ranked: ArgumentErrors = {
  notObject: 5788001,
  unknown: 5788002,
  missing: { n: 5788003, output: 5788004, sortBy: 5788005 },
};

export const argumentErrors: Readonly<Record<string, ArgumentErrors>> = {
  $cond: { unknown: 17083, missing: { if: 17080, then: 17081, else: 17082 } },
  $let: { notObject: 16874, unknown: 16875, missing: { vars: 16876, in: 16877 } },
  $map: { notObject: 16878, unknown: 16879, missing: { input: 16880, in: 16882 } },
  $filter: { notObject: 28646, unknown: 28647, missing: { input: 28648, cond: 28650 } },
  $reduce: {
    notObject: 40075,
    unknown: 40076,
    missing: { input: 40077, initialValue: 40078, in: 40079 },
  },
  $switch: { notObject: 40060, unknown: 40067, missing: { branches: 40068 } },
  $zip: { notObject: 34460, unknown: 34464, missing: { inputs: 34465 } },
  $sortArray: {
    notObject: 2942500,
    unknown: 2942501,
    missing: { input: 2942502, sortBy: 2942503 },
  },
  $getField: { unknown: 3041701, missing: { field: 3041702, input: 3041703 } },
  $setField: {
    notObject: 4161100,
    unknown: 4161101,
    missing: { field: 4161102, value: 4161103, input: 4161109 },
  },
  $unsetField: {
    notObject: 4161100,
    unknown: 4161101,
    missing: { field: 4161102, input: 4161109 },
  },
  $firstN: several,
  $lastN: several,
  $minN: several,
  $maxN: several,
  $top: ranked,
  $topN: ranked,
  $bottom: ranked,
  $bottomN: ranked,
  $trim: trim,
  $ltrim: trim,
  $rtrim: trim,
  $replaceOne: replace,
  $replaceAll: replace,
  $regexFind: regex,
  $regexFindAll: regex,
  $regexMatch: regex,
  $dateToString: { notObject: 18629, unknown: 18534, missing: { date: 18628 } },
  $dateFromString: { notObject: 40540, unknown: 40541, missing: { dateString: 40542 } },
  $dateFromParts: { notObject: 40519, unknown: 40518 },
  $dateToParts: { notObject: 40524, unknown: 40520, missing: { date: 40522 } },
  $dateDiff: {
    notObject: 5166301,
    unknown: 5166302,
    missing: { startDate: 5166303, endDate: 5166304, unit: 5166305 },
  },
  $dateTrunc: { notObject: 5439007, unknown: 5439008, missing: { date: 5439009, unit: 5439010 } },
  $dateAdd: shift,
  $dateSubtract: shift,
  $bucketAuto: { notObject: 40240, unknown: 40245, missing: { groupBy: 40246, buckets: 40246 } },
  $bucket: { notObject: 40201, unknown: 40197, missing: { groupBy: 40198, boundaries: 40198 } },
  ...Object.fromEntries(
    [
      '$year',
      '$month',
      '$dayOfMonth',
      '$hour',
      '$minute',
      '$second',
      '$millisecond',
      '$dayOfYear',
      '$dayOfWeek',
      '$week',
      '$isoDayOfWeek',
      '$isoWeek',
      '$isoWeekYear',
    ].map((name) => [name, part]),
  ),
};

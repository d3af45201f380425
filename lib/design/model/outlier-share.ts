import {
  columnProfile,
  rowCount,
  type Profile,
  type Relationship,
} from '../../sqlite/profile/profile';

/** Parents with more children than a limit, and all of their children. */
export interface Outliers {
  readonly parents: number;
  readonly children: number;
  /** Counted; else the most that the profile allows. */
  readonly exact: boolean;
}

/**
 * The profile lists the five most frequent keys of the children with their counts: where one of
 * them is within the limit, the others are all.
 */
const LISTED = 5;

/** The outliers of a relationship of one column. */
export function outliersOf(
  { childTable, childColumns, parentTable, orphans, fanOut }: Relationship,
  limit: number,
  profile: Profile,
): Outliers {
  if (fanOut.max <= limit) return { parents: 0, children: 0, exact: true };
  const key = columnProfile(profile, childTable, childColumns[0]!);
  const listed = key && !key.distinctEstimated ? key.topValues : [];
  const counts = listed.map(({ count }) => count).filter((count) => count > limit);
  const known = {
    parents: Math.max(1, counts.length),
    children: counts.length > 0 ? counts.reduce((sum, count) => sum + count, 0) : fanOut.max,
  };
  // So few rows have keys of no parent that none of those can be among the listed.
  if (
    counts.length > 0 &&
    orphans <= limit &&
    (counts.length < listed.length || listed.length < LISTED)
  )
    return { ...known, exact: true };
  const most = Math.max(
    known.parents,
    Math.floor(rowCount(profile, parentTable) * largestShare(fanOut, limit)),
  );
  const children = known.children + (most - known.parents) * Math.min(fanOut.max, ...counts);
  return {
    parents: most,
    children: Math.min(children, rowCount(profile, childTable)),
    exact: false,
  };
}

/** Of the parents, the share that may have more children than the limit, by the percentiles. */
function largestShare(fanOut: Relationship['fanOut'], limit: number): number {
  if (fanOut.p99 <= limit) return 0.01;
  return fanOut.p50 <= limit ? 0.5 : 1;
}

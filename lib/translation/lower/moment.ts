import type { ExpressionLowering, Lowered } from './environment';
import type { Mql } from '../mql/mql';

/** A point in time: as text of known layout (cut out of it), or as a date of MongoDB. */
export type Moment =
  | {
      readonly kind: 'text';
      readonly text: Lowered;
      readonly time: boolean;
      readonly checked: boolean;
    }
  | {
      readonly kind: 'date';
      readonly date: Mql;
      readonly nullable: boolean;
      /**
       * Cycles of 400 years by which `date` is later than it should be: MongoDB prints no year
       * before 0. Months, days and weekdays are the same after each.
       */
      readonly cycles?: number;
    };

/** What SQLite reads as a date: `2012-05-01`, with a time of day behind a space or T. */
export const ISO =
  '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])([ ' +
  'T]([01]\\d|2[0-4]):[0-5]\\d(:[0-5]\\d(\\.\\d+)?)?)?$';
export const now = (lowering: ExpressionLowering): Moment => {
  lowering.env.timeDependent();
  return { kind: 'date', date: '$$NOW', nullable: false };
};

export const isNullable = (moment: Moment): boolean =>
  moment.kind === 'date' ? moment.nullable : moment.text.type.nullable || !moment.checked;

export function asDate(moment: Moment): Mql {
  if (moment.kind === 'date') return moment.date;
  return {
    $dateFromString: {
      dateString: moment.text.mql,
      onNull: null,
      ...(!moment.checked && { onError: null }),
    },
  };
}

/** A point in time that a value is where `when` holds; always without it. */
export interface PossibleMoment {
  readonly when?: Mql;
  readonly moment: Moment;
}

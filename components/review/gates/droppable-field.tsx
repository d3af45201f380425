import { Name } from '../../text/name';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import type { GateProps } from '../gate-props';

type Directives = GateProps<unknown>['directives'];

/**
 * A field that the design derives or repeats, with a button that requests the design without it.
 * `request` is the directive that does; `requested` the one already among the reviewer's.
 */
export function DroppableField({
  field,
  within = '',
  children,
  request,
  requested,
  directives,
  setDirectives,
}: {
  readonly field: string;
  /** Where the field is, for the button's name: ` of <table>`. */
  readonly within?: string;
  readonly children: React.ReactNode;
  readonly request: Directives[number];
  readonly requested: Directives[number] | undefined;
} & Pick<GateProps<unknown>, 'directives' | 'setDirectives'>) {
  const toggle = (): void =>
    setDirectives(
      requested ? directives.filter((entry) => entry !== requested) : [...directives, request],
    );
  return (
    <>
      <Name text={field} className={`text-xs ${requested ? 'line-through' : ''}`} />{' '}
      <span className="text-muted">{children}</span>
      {requested ? (
        <>
          {' '}
          <Badge tone="accent">removal requested</Badge>
        </>
      ) : null}{' '}
      <Button
        look="quiet"
        aria-label={`${requested ? 'Cancel request: remove' : 'Remove'} ${field}${within}`}
        onClick={toggle}
      >
        {requested ? 'Cancel request' : 'Remove'}
      </Button>
    </>
  );
}

import type { ItemDetail } from '../../../lib/review/task-api';
import type { SourceDefect } from '../../../lib/translation/check/source-defects';
import { CodeBlock } from '../../text/code-block';
import { Badge } from '../../ui/badge';

/** The question, its hint and its SQL: above every item gate. */
export function ItemHead({
  item,
  caveats = [],
  defects = [],
  sql = true,
}: {
  readonly item: ItemDetail | null;
  readonly caveats?: readonly string[];
  readonly defects?: readonly SourceDefect[];
  readonly sql?: boolean;
}) {
  if (!item) return null;
  return (
    <div className="space-y-2">
      <p className="text-base font-medium">{item.question}</p>
      <div className="flex flex-wrap items-center gap-1.5 text-[13px] text-muted">
        <span>item {item.questionId}</span>
        {item.difficulty ? <Badge>{item.difficulty}</Badge> : null}
        {caveats.map((caveat) => (
          <Badge key={caveat} tone="warn">
            {caveat.replaceAll('_', ' ')}
          </Badge>
        ))}
      </div>
      {defects.length > 0 ? (
        <ul className="list-disc pl-5 text-[13px] text-warn">
          {defects.map((defect) => (
            <li key={defect.detail}>The source SQL looks wrong: {defect.detail}</li>
          ))}
        </ul>
      ) : null}
      {sql ? (
        <>
          {item.evidence ? (
            <p className="text-[13px]">
              <span className="text-muted">Evidence:</span> {item.evidence}
            </p>
          ) : null}
          <CodeBlock text={item.sql} label="SQL of the source benchmark" />
        </>
      ) : null}
    </div>
  );
}

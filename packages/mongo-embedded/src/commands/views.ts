import { Doc } from '../bson/doc';
import { ServerError } from '../errors';
import type { ViewDefinition } from '../stages/stage';
import type { Collection, Store } from '../storage/store';
import { parseCollation } from '../values/collation';
import type { Value } from '../bson/value';

const MAX_DEPTH = 20;

/** A view's pipeline over the collection under all views; null when the name is no view. */
export function resolveView(store: Store, database: string, name: string): ViewDefinition | null {
  let on = name;
  let pipeline: readonly Value[] = [];
  for (let depth = 0; ; depth++) {
    const view = store.find(database, on);
    if (!view?.isView) return on === name ? null : { on, pipeline };
    if (depth >= MAX_DEPTH)
      throw new ServerError(
        165,
        `View depth too deep or view cycle detected; maximum depth is ${MAX_DEPTH}`,
      );
    pipeline = [...(view.options.get('pipeline') as Value[]), ...pipeline];
    on = view.options.get('viewOn') as string;
  }
}

/** The collation of a collection or view, which counts where a command names none. */
export function defaultCollation(collection: Collection | null): Doc | undefined {
  const spec = collection?.options.get('collation');
  return spec instanceof Doc ? spec : undefined;
}

/** A view's collation is fixed: a command may not use another one. */
export function checkViewCollation(view: Collection, spec: Doc): void {
  if (parseCollation(defaultCollation(view)).name !== parseCollation(spec).name) {
    throw new ServerError(167, `Cannot override a view's default collation${view.namespace}`);
  }
}

/** Throws when a view would stand on itself. */
export function checkCycle(store: Store, database: string, name: string, on: string): void {
  for (let at: string | undefined = on, depth = 0; at !== undefined; depth++) {
    if (at === name) throw new ServerError(5, `View cycle detected: ${name}`);
    if (depth > MAX_DEPTH)
      throw new ServerError(165, `View depth limit exceeded; maximum depth is ${MAX_DEPTH}`);
    const next: Value = store.find(database, at)?.options.get('viewOn');
    at = typeof next === 'string' ? next : undefined;
  }
}

import type { DocumentDesign } from '../../design/model/document-design';
import type { Catalog } from '../../sqlite/catalog';
import { rowCount, type Profile } from '../../sqlite/profile/profile';
import { FieldNames } from '../lower/field-names';
import type { MqlDocument } from '../mql/mql';
import type { PlanNode, PlanNodes } from '../plan/plan';

/** What one translation reads, and what it finds on the way. */
export class TranslationState {
  readonly caveats = new Set<string>();
  /** A row was chosen among several that SQL leaves open: the other choice may be SQLite's. */
  choseRow = false;
  private readonly touched = new Map<string, Set<string>>();

  constructor(
    readonly catalog: Catalog,
    readonly profile: Profile,
    readonly design: DocumentDesign,
    /**
     * Which row stands for the others where SQL leaves it open: the first that comes, or the last
     * and the extreme.
     */
    readonly choice: 'first' | 'last' = 'first',
  ) {}

  get forPlan(): { readonly design: DocumentDesign; readonly profile: Profile } {
    return { design: this.design, profile: this.profile };
  }

  touch(collection: string, path?: string): void {
    const fields = this.touched.get(collection) ?? new Set<string>();
    this.touched.set(collection, fields);
    if (path !== undefined) fields.add(path);
  }

  touches(): { collection: string; fields: string[] }[] {
    return [...this.touched]
      .map(([collection, fields]) => ({ collection, fields: [...fields].sort() }))
      .sort((a, b) => (a.collection < b.collection ? -1 : 1));
  }

  rowCount(table: string): number {
    return rowCount(this.profile, table);
  }
}

/** The nodes of a plan under construction. */
export class Draft {
  readonly nodes: PlanNode[] = [];
  /** Top-level names of the documents, so that added fields hide none. */
  readonly names = new FieldNames();

  push(...nodes: PlanNodes): void {
    for (const node of nodes) {
      // A filter that is always true is none.
      if (node.kind === 'filter' && Object.keys(node.where).length === 0) continue;
      this.nodes.push(node);
    }
  }

  filter(where: MqlDocument): void {
    this.push({ kind: 'filter', where });
  }

  compute(fields: MqlDocument): void {
    if (Object.keys(fields).length > 0) this.push({ kind: 'compute', fields });
  }

  sort(keys: MqlDocument): void {
    if (Object.keys(keys).length > 0) this.push({ kind: 'sort', keys });
  }
}

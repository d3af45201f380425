import type { Doc } from '../bson/doc';
import { unsupported } from '../errors';
import type { Evaluate } from '../expressions/expression';
import { divideNumbers, multiplyNumbers, subtractNumbers, Sum } from '../values/arithmetic';
import { Decimal } from '../bson/decimal';
import { double, isNumeric, toDouble, type Numeric, type Value } from '../bson/value';

/**
 * An accumulator that can also forget, so that a sliding window costs the same whatever its width.
 */
export interface Removable {
  add(doc: Doc): void;
  remove(doc: Doc): void;
  result(): Value;
}

/**
 * What is taken away again is added with the other sign, as on the server: the digits lost on the
 * way are its digits.
 */
const negated = (v: Numeric): Numeric => multiplyNumbers(v, -1);
const isFinite = (v: Numeric): boolean =>
  v instanceof Decimal ? v.isFinite : Number.isFinite(toDouble(v));

/** Standard deviation over a sliding window. */
export class MovingDeviation implements Removable {
  private sum = new Sum();
  private squares = new Sum();
  private n = 0;
  private endless = 0;
  constructor(
    private readonly evaluate: Evaluate,
    private readonly sample: boolean,
  ) {}
  add(doc: Doc): void {
    this.update(this.evaluate(doc), 1);
  }
  remove(doc: Doc): void {
    this.update(this.evaluate(doc), -1);
  }
  private update(v: Value, sign: 1 | -1): void {
    if (!isNumeric(v)) return;
    if (!isFinite(v)) {
      this.endless += sign;
      this.n += sign;
    } else if (this.n === 0) {
      this.n = 1;
      this.sum.push(v);
    } else if (this.n + sign === 0) {
      this.sum = new Sum();
      this.squares = new Sum();
      this.n = 0;
      this.endless = 0;
    } else {
      const d = toDouble(v);
      const x = this.n * d - toDouble(this.sum.sum);
      this.n += sign;
      this.sum.push(double(d * sign));
      this.squares.push(double((x * x * sign) / (this.n * (this.n - sign))));
    }
  }
  result(): Value {
    if (this.endless > 0) return double(NaN);
    const n = this.sample ? this.n - 1 : this.n;
    if (n === 0) return null;
    const squares = toDouble(this.squares.sum);
    if (squares < 0 || (!this.sample && this.n === 1)) {
      this.squares = new Sum();
      return 0;
    }
    return double(Math.sqrt(squares / n));
  }
}

class MovingMean {
  private readonly sum = new Sum();
  private n = 0;
  add(v: Numeric): void {
    this.sum.push(v);
    this.n++;
  }
  remove(v: Numeric): void {
    this.sum.push(negated(v));
    this.n--;
  }
  get value(): Numeric | null {
    return this.n === 0 ? null : divideNumbers(this.sum.sum, this.n);
  }
}

/** Covariance of two expressions; infinities and NaN decide alone, and count for nothing. */
export class MovingCovariance implements Removable {
  private n = 0;
  private x = new MovingMean();
  private y = new MovingMean();
  private products = new Sum();
  private readonly endless = { NaN: 0, Infinity: 0, '-Infinity': 0 };
  constructor(
    private readonly evaluateX: Evaluate,
    private readonly evaluateY: Evaluate,
    private readonly sample: boolean,
    private readonly name: string,
  ) {}
  private pair(doc: Doc, sign: 1 | -1): readonly [Numeric, Numeric] | null {
    const [x, y] = [this.evaluateX(doc), this.evaluateY(doc)];
    if (!isNumeric(x) || !isNumeric(y)) return null;
    if (isFinite(x) && isFinite(y)) return [x, y];
    if (x instanceof Decimal || y instanceof Decimal)
      throw unsupported(`${this.name} with decimals that are not finite`);
    const odd = [toDouble(x), toDouble(y)].filter((v) => !Number.isFinite(v));
    if (odd.every((v) => v === Infinity)) this.endless.Infinity += sign;
    else if (odd.every((v) => v === -Infinity)) this.endless['-Infinity'] += sign;
    else this.endless.NaN += sign;
    return null;
  }
  add(doc: Doc): void {
    const pair = this.pair(doc, 1);
    if (!pair) return;
    const [x, y] = pair;
    this.n++;
    const mean = this.x.value;
    this.x.add(x);
    this.y.add(y);
    if (mean !== null)
      this.products.push(
        multiplyNumbers(subtractNumbers(x, mean), subtractNumbers(y, this.y.value as Numeric)),
      );
  }
  remove(doc: Doc): void {
    const pair = this.pair(doc, -1);
    if (!pair) return;
    const [x, y] = pair;
    this.n--;
    if (this.n === 0) {
      this.x = new MovingMean();
      this.y = new MovingMean();
      this.products = new Sum();
      return;
    }
    this.x.remove(x);
    this.products.push(
      negated(
        multiplyNumbers(
          subtractNumbers(x, this.x.value as Numeric),
          subtractNumbers(y, this.y.value as Numeric),
        ),
      ),
    );
    this.y.remove(y);
  }
  result(): Value {
    if (this.n === 1 && !this.sample) return double(0);
    const n = this.sample ? this.n - 1 : this.n;
    if (n <= 0) return null;
    const { endless } = this;
    if (endless.NaN > 0 || (endless.Infinity > 0 && endless['-Infinity'] > 0)) return double(NaN);
    if (endless.Infinity + endless['-Infinity'] > 0)
      return double(endless.Infinity > 0 ? Infinity : -Infinity);
    const total = this.products.sum;
    return total instanceof Decimal ? divideNumbers(total, double(n)) : double(toDouble(total) / n);
  }
}

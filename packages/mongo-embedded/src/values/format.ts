import { unsupported } from '../errors';

/**
 * A double as MongoDB makes a string of it. Its versions differ: some print as many digits as it
 * takes to read the number back, others six (C's `%g`). Where both say the same that is the answer;
 * elsewhere there is none that would hold on every server, and a decimal is the way to say how many
 * digits are meant.
 */
export function formatDouble(d: number): string {
  const text = shortest(d);
  if (text === sixDigits(d)) return text;
  throw unsupported(
    `a double of more than six digits as text (${text}), which versions of MongoDB print ` +
      'differently: convert it to a decimal or a long first',
  );
}

function sixDigits(d: number): string {
  if (!Number.isFinite(d) || d === 0) return shortest(d);
  const rounded = Number(d.toPrecision(6));
  const exponent = Number(rounded.toExponential().split('e')[1]);
  if (exponent < 6) return shortest(rounded);
  const [mantissa] = rounded.toExponential().split('e');
  return `${String(mantissa)}e+${String(exponent).padStart(2, '0')}`;
}

function shortest(d: number): string {
  if (Number.isNaN(d)) return 'NaN';
  if (!Number.isFinite(d)) return d > 0 ? 'Infinity' : '-Infinity';
  if (d === 0) return Object.is(d, -0) ? '-0' : '0';
  const [mantissa = '', power = '0'] = d.toExponential().split('e');
  const exponent = Number(power);
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '').replace(/0+$/, '');
  if (exponent < -4 || exponent >= 16) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    const power = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${digits[0]}${fraction}e${exponent < 0 ? '-' : '+'}${power}`;
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return sign + digits.padEnd(exponent + 1, '0');
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

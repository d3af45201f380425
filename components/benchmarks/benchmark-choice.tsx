import { Select } from '../ui/field';

interface BenchmarkChoiceProps {
  /** Undefined until they are read. */
  readonly benchmarks: readonly { readonly id: string; readonly name: string }[] | undefined;
  /** An id; empty for all. */
  readonly value: string;
  readonly onChange: (id: string) => void;
}

/** Which benchmark a list shows. */
export function BenchmarkChoice({ benchmarks, value, onChange }: BenchmarkChoiceProps) {
  if (!benchmarks) return null;
  return (
    <Select aria-label="Benchmark" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">All benchmarks</option>
      {benchmarks.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  );
}

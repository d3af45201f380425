import type { ComponentPropsWithRef, ReactNode, SelectHTMLAttributes } from 'react';
import { classes } from './classes';

const inputLook =
  'rounded-md border border-line bg-surface px-2.5 py-1.5 text-text placeholder:text-muted ' +
  'disabled:opacity-60';

export function Field({
  label,
  hint,
  children,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly children: ReactNode;
}) {
  return (
    <label className="block space-y-1">
      <span className="text-[13px] font-medium">{label}</span>
      {children}
      {hint ? <span className="block text-xs text-muted">{hint}</span> : null}
    </label>
  );
}

export const Input = ({ className, ...rest }: ComponentPropsWithRef<'input'>) => (
  <input className={classes(inputLook, className ?? 'w-full')} {...rest} />
);
export const TextArea = ({ className, ...rest }: ComponentPropsWithRef<'textarea'>) => (
  <textarea className={classes(inputLook, 'w-full font-[inherit]', className)} {...rest} />
);
export const Select = ({ className, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) => (
  <select className={classes(inputLook, 'py-1 text-[13px]', className)} {...rest} />
);

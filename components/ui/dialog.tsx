'use client';
import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { useRef, type KeyboardEvent, type ReactNode } from 'react';

export function Dialog({
  open,
  onClose,
  title,
  description,
  children,
  wide = false,
}: {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly children: ReactNode;
  readonly wide?: boolean;
}) {
  // No trigger is known here, so that Radix would leave the focus nowhere: it goes back to where it
  // was.
  const opener = useRef<Element | null>(null);
  return (
    <Radix.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Radix.Content
          className={
            'fixed top-1/2 left-1/2 z-50 max-h-[88vh] w-[92vw] -translate-x-1/2 ' +
            '-translate-y-1/2 overflow-y-auto rounded-lg border border-line bg-surface p-4 ' +
            `shadow-xl ${wide ? 'max-w-4xl' : 'max-w-xl'}`
          }
          onKeyDownCapture={sendByKey}
          onOpenAutoFocus={() => (opener.current = document.activeElement)}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (opener.current instanceof HTMLElement && opener.current.isConnected)
              opener.current.focus();
          }}
          {...(description ? {} : { 'aria-describedby': undefined })}
        >
          <div className="mb-3 flex items-start justify-between gap-4">
            <div className="min-w-0">
              <Radix.Title className="text-base font-semibold wrap-anywhere">{title}</Radix.Title>
              {description ? (
                <Radix.Description className="text-muted wrap-anywhere">
                  {description}
                </Radix.Description>
              ) : null}
            </div>
            <Radix.Close
              className="rounded p-1 text-muted hover:bg-surface-2 hover:text-text"
              aria-label="Close"
            >
              <X className="size-4" />
            </Radix.Close>
          </div>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * Ctrl+Enter presses the dialog's submit button, from wherever one types. Caught on the way down,
 * because editors have a use of their own for it.
 */
function sendByKey(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  const button = event.currentTarget.querySelector<HTMLButtonElement>('form button[type="submit"]');
  if (!button) return;
  event.preventDefault();
  event.stopPropagation();
  button.click();
}

import { readPending } from '../review/pending-store';

let leaving = false;

/**
 * Whether the page is being left to sign in: what is not saved is kept meanwhile, and needs no
 * warning.
 */
export const isSigningInAgain = (): boolean => leaving;

/**
 * The session has ended: to the sign-in, and from there back to the task whose decision could not
 * be saved, or to this page.
 */
export function signInAgain(): void {
  if (leaving || window.location.pathname === '/login') return;
  leaving = true;
  const back = readPending()[0]?.address ?? window.location.pathname + window.location.search;
  window.location.assign(`/login?to=${encodeURIComponent(back)}`);
}

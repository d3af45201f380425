import type { Problem } from '../lib/app-error';
import type { ApiError } from '../lib/http/api-error';
import { signInAgain } from './session/sign-in-again';

/** A request that the server refused or that never reached it. */
export class RequestFailed extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: ApiError['error']['code'] | 'network',
    readonly next: string,
    readonly problems: readonly Problem[] = [],
  ) {
    super(message);
  }
}

/** GET, or a state change with a JSON body; the answer's JSON. Throws `RequestFailed`. */
export async function api<T>(
  path: string,
  init: {
    readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    readonly body?: unknown;
    readonly signal?: AbortSignal;
  } = {},
): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, {
      method: init.method ?? 'GET',
      ...(init.body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(init.body) }),
      ...(init.signal ? { signal: init.signal } : {}),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new RequestFailed(
      'The server cannot be reached.',
      0,
      'network',
      'Check the connection. Nothing that was saved is lost.',
    );
  }
  if (response.status === 204) return undefined as T;
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return body as T;
  const failed = (body as ApiError | undefined)?.error;
  if (response.status === 401 && typeof window !== 'undefined') signInAgain();
  throw new RequestFailed(
    failed?.message ?? `The server answered ${response.status}.`,
    response.status,
    failed?.code ?? 'internal',
    failed?.next ?? 'Try again; if it goes on, look at the server’s log.',
    failed?.problems,
  );
}

export const query = (
  values: Readonly<Record<string, string | number | undefined | null>>,
): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value));
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
};

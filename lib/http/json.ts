/** Answers are never cached: they depend on who asks and when. */
export const noStore = { 'cache-control': 'no-store' };

/** A JSON answer with a status of its own. */
export const json = (status: number, body: unknown): Response =>
  Response.json(body, { status, headers: noStore });

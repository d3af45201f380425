import { principalOfSession, type Principal } from '../auth/accounts';
import { processStores } from '../db/process-database';

/** For pages: who is signed in, by the request's cookie value. */
export async function signedInUser(cookie: string | undefined): Promise<Principal | undefined> {
  return cookie ? principalOfSession(processStores().db, cookie) : undefined;
}

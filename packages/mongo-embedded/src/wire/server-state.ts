import type net from 'node:net';
import type { Doc } from '../bson/doc';
import type { ScramConversation } from './scram';
import type { Usage } from './usage';
import type { Handle } from './workers';

/** A command that a thread is working on. */
export interface Operation {
  readonly id: number;
  readonly connection: Connection;
  readonly command: Doc;
  readonly namespace: string;
  readonly started: number;
  readonly handle: Handle;
}

export interface Connection {
  readonly id: number;
  readonly socket: net.Socket;
  authenticated: boolean;
  conversation: ScramConversation | null;
  readonly running: Set<Handle>;
}

/** What commands about the server read of it. */
export interface ServerState {
  readonly port: number;
  readonly user: string;
  /** Seconds since the start. */
  readonly uptime: number;
  readonly connectionTotal: number;
  /** What threads are working on, by the number that `killOp` takes. */
  readonly running: ReadonlyMap<number, Operation>;
  readonly usage: Usage;
  readonly traffic: {
    readonly bytesIn: number;
    readonly bytesOut: number;
    readonly requests: number;
  };
}

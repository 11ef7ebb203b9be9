import type * as http from 'node:http';
import type * as https from 'node:https';

/**
 * Node's HTTP modules, loaded when a socket is first needed. Not by `import`: that evaluates every export of `node:http`, one
 * of which loads a whole HTTP client, and takes a third of the time a cluster needs to start.
 */
export function nodeHttp(): typeof http {
  return process.getBuiltinModule('node:http');
}

export function nodeHttps(): typeof https {
  return process.getBuiltinModule('node:https');
}

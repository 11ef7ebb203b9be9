/**
 * A brief program (see brief-program.ts) came to something it does not have: a chart that has to be fetched, a cluster. Nothing has been
 * written then, and the whole program does the command from the beginning.
 */
export class LeftOut extends Error {
  override readonly name = 'LeftOut';

  constructor(module: string) {
    super(`${module} is left to the whole program`);
  }
}

import { fstatSync, writeSync } from 'node:fs';

const standardOutput = 1;

/** Whether it may be a terminal. A pipe and a file are known without Node's streams, which take a while to load. */
export function mayBeTerminal(): boolean {
  try {
    return fstatSync(standardOutput).isCharacterDevice();
  } catch {
    return true;
  }
}

export interface OutputOptions {
  /** Whether nothing else runs in this process that would have to wait as well. */
  readonly isAlone: () => boolean;
  /** The reader went away. */
  readonly onClosed: () => void;
}

/**
 * Answers what writes to standard output. A command that runs alone waits for its reader: a large text has gone out when it goes on, and
 * Node's streams are not even loaded. Beside a server or a connection, and on a terminal, the stream holds what the reader has not taken.
 */
export function makeOutput({ isAlone, onClosed }: OutputOptions): (written: string | Uint8Array) => void {
  let stream = mayBeTerminal() ? listenedTo(onClosed) : undefined;
  return (written) => {
    const left = stream === undefined && isAlone() ? writeNow(written, onClosed) : written;
    if (left.length === 0) return;
    // From here on all through it: nothing may overtake what it still holds.
    stream ??= listenedTo(onClosed);
    stream.write(left);
  };
}

/** A reader that goes away early (`slipway crds | head`) is not an error. */
function listenedTo(onClosed: () => void): NodeJS.WriteStream {
  return process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    onClosed();
  });
}

/** Answers what is left when whoever made the pipe does not let its writers wait. */
function writeNow(written: string | Uint8Array, onClosed: () => void): Uint8Array {
  let left: Uint8Array = typeof written === 'string' ? Buffer.from(written) : written;
  try {
    while (left.length > 0) left = left.subarray(writeSync(standardOutput, left));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN') return left;
    if (code !== 'EPIPE') throw error;
    onClosed();
    return left.subarray(left.length);
  }
  return left;
}

/** Answers what writes to standard error. A reader that goes away (`slipway chart install shop ./web 2>&1 | head`) keeps no work from its end. */
export function makeErrorOutput(): (written: string) => void {
  let stream: NodeJS.WriteStream | undefined;
  return (written) => {
    stream ??= process.stderr.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
    stream.write(written);
  };
}

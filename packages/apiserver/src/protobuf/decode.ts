import type { JsonObject } from '../object.ts';

/** Bytes that are not what a Kubernetes client sends. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtobufError';
  }
}

export interface DecodedProtobuf {
  apiVersion: string;
  kind: string;
  object: JsonObject;
}

export function decodeProtobuf(bytes: Uint8Array): DecodedProtobuf {
  throw new ProtobufError(`provided data does not appear to be a protobuf message, expected prefix of ${bytes.length}`);
}

/** Reads one value the data generator packed. Nothing of it is needed to start, so neither is the module that unpacks. */
export function unpack(packed: string): unknown {
  const { brotliDecompressSync } = process.getBuiltinModule('node:zlib');
  return JSON.parse(brotliDecompressSync(Buffer.from(packed, 'base64')).toString('utf8'));
}

/** Splits `io.k8s.api.apps.v1.Deployment` into the chunk it is packed in and its name there. */
export function locateDefinition(definition: string): { chunk: string; name: string } {
  const dot = definition.lastIndexOf('.');
  return { chunk: definition.slice(0, dot), name: definition.slice(dot + 1) };
}

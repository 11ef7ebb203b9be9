export * from './cache.ts';
export * from './client.ts';
export * from './clock.ts';
export * from './kind.ts';
export * from './object.ts';
export * from './random.ts';
export * from './transport.ts';

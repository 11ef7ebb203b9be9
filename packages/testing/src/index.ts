export * from './crash-sweep.ts';
export * from './fault-sweep.ts';
export * from './killable-transport.ts';
export * from './scenario.ts';
export * from './snapshot.ts';
export * from './test-cluster.ts';
export * from './virtual-clock.ts';
export { skipped } from './skipped.ts';

/**
 * What a command line needs before it speaks to a cluster, if it ever does: how commands declare themselves, their errors and
 * terminal, time and chance. `@slipway/kube` has all of it too, and the clients; a command that renders a file should not
 * wait for those to load.
 */
export * from '../clock.ts';
export * from '../duration.ts';
export * from '../kube-error.ts';
export * from '../random.ts';
export * from './command-error.ts';
export * from './command.ts';
export { styled, type Style, type Terminal } from './terminal.ts';

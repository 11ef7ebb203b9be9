import type { Environment } from '@marcbachmann/cel-js';
import { registerAddresses } from './address-library.ts';
import { registerLists } from './list-library.ts';
import { registerNamedFormats } from './named-formats.ts';
import { registerQuantities } from './quantity-library.ts';
import { registerStrings } from './string-library.ts';
import { registerUrls } from './url-library.ts';
import { registerVersions } from './version-library.ts';

/** Adds what Kubernetes offers to expressions on top of the plain language. */
export function registerLibraries(environment: Environment): void {
  registerStrings(environment);
  registerLists(environment);
  registerUrls(environment);
  registerAddresses(environment);
  registerQuantities(environment);
  registerNamedFormats(environment);
  registerVersions(environment);
}

import type { JsonObject } from '../object.ts';
import { dataVersion } from '../schema/builtin-resources.ts';

const [, major = '1', minor = '0'] = /^v(\d+)\.(\d+)/.exec(dataVersion) ?? [];

/** `/version`: the Kubernetes version this server imitates. */
export const versionDocument: JsonObject = {
  major,
  minor,
  emulationMajor: major,
  emulationMinor: minor,
  minCompatibilityMajor: major,
  minCompatibilityMinor: String(Number(minor) - 1),
  gitVersion: dataVersion,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: `node${process.versions.node}`,
  compiler: 'slipway',
  platform: `${process.platform}/${process.arch}`,
};

import { Deployment } from '@slipway/kube';

import type { ComponentCondition } from '../../../component/component-resource.ts';
import { laterVersion } from '../../later-version.ts';
import { versionLabel } from './kube-api-server.ts';
import { objectNames, type Place } from './place.ts';

export interface VersionDecision {
  /** What is to run. */
  readonly version: string;
  /** Why it is not what was asked for. */
  readonly refused?: string;
}

/** Which version the API server is to have: the configured one, or a later one that was set for this control plane alone. */
export async function decideVersion(place: Place): Promise<VersionDecision> {
  const wanted = laterVersion(place.settings.version, place.apiServer.spec.internal?.gardener?.k8sVersionOverwrite)!;
  const deployment = await place.client.get(Deployment, { namespace: place.namespace, name: objectNames.apiServer });
  return nextVersion(deployment?.metadata.labels?.[versionLabel], wanted);
}

/** Kubernetes goes neither back nor over a minor version: what is stored could not be read. */
export function nextVersion(present: string | undefined, wanted: string): VersionDecision {
  if (present === undefined || present === wanted) return { version: wanted };
  const refuse = (why: string): VersionDecision => ({ version: present, refused: `${present} stays: ${why}` });
  if (laterVersion(present, wanted) === present) return refuse(`an API server does not go back to ${wanted}`);
  const [major, minor] = numbers(present);
  const [wantedMajor, wantedMinor] = numbers(wanted);
  if (wantedMajor !== major || wantedMinor > minor + 1) {
    return refuse(`${wanted} is more than one minor version away; configure ${major}.${minor + 1} first`);
  }
  return { version: wanted };
}

function numbers(version: string): [number, number] {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return [major, minor];
}

/** It works in any case, so it is true in any case; the reason says more. */
export function versionCondition({ version, refused }: VersionDecision, rolledOut: boolean): ComponentCondition {
  const type = 'APIServerVersion';
  if (refused) return { type, status: 'True', reason: 'UpgradeRefused', message: refused };
  return rolledOut
    ? { type, status: 'True', reason: 'UpToDate', message: version }
    : { type, status: 'True', reason: 'Upgrading', message: `on the way to ${version}` };
}

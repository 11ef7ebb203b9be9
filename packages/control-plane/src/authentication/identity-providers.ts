import type { DeepReadonly } from '@slipway/kube';

import type { Authentication } from '../api/components.ts';
import { ComponentError } from '../component/component-error.ts';

export type IdentityProvider = NonNullable<Authentication['spec']['identityProviders']>[number];

export interface AuthenticationConfig {
  /** Ours, on every control plane that does not turn it off. */
  readonly systemIdentityProvider?: IdentityProvider;
  /** Of the onboarding cluster: lets its ServiceAccounts in. People do not log in with it. */
  readonly crateIdentityProvider?: IdentityProvider;
}

export interface EnabledProvider {
  readonly type: 'system' | 'crate' | 'user';
  readonly provider: DeepReadonly<IdentityProvider>;
}

/** The identity providers of a control plane, in order. The same name twice would let one speak for the other. */
export function enabledProviders(
  spec: DeepReadonly<Authentication['spec']>,
  config: AuthenticationConfig,
): readonly EnabledProvider[] {
  const enabled: EnabledProvider[] = [];
  if (spec.enableSystemIdentityProvider !== false && config.systemIdentityProvider) {
    enabled.push({ type: 'system', provider: config.systemIdentityProvider });
  }
  if (config.crateIdentityProvider) enabled.push({ type: 'crate', provider: config.crateIdentityProvider });
  for (const provider of spec.identityProviders ?? []) enabled.push({ type: 'user', provider });
  const seen = new Set<string>();
  for (const { provider } of enabled) {
    if (seen.has(provider.name)) {
      throw new ComponentError(
        'ManagingOpenIDConnectResourcesProblem',
        `duplicate identity provider name: ${provider.name}`,
      );
    }
    seen.add(provider.name);
  }
  return enabled;
}

import type { Authentication } from '../../api/components.ts';
import type { FieldError, Projection } from '../projection.ts';

/** Flags of the login command that come from elsewhere. */
const reservedFlags = ['oidc-issuer-url', 'oidc-client-id', 'oidc-client-secret'];

/** Whoever has an API server can log in to it, so an API server alone is enough. */
export const authenticationProjection: Projection = {
  isConfigured: ({ mcp }) => mcp.spec?.authentication !== undefined || mcp.spec?.components.apiServer !== undefined,
  spec: ({ mcp }) => ({ enableSystemIdentityProvider: true, ...mcp.spec?.authentication }),
  validate(spec) {
    const { identityProviders = [] } = spec as Authentication['spec'];
    const seen = new Set<string>();
    return identityProviders.flatMap((provider, index) => {
      const at = `identityProviders[${index}]`;
      const problems: FieldError[] = [];
      if (seen.has(provider.name))
        problems.push({ field: `${at}.name`, message: `Duplicate value: "${provider.name}"` });
      seen.add(provider.name);
      if (!/^[a-z]{1,63}$/.test(provider.name)) {
        problems.push({ field: `${at}.name`, message: 'must be 1 to 63 lower-case letters' });
      }
      if (!provider.issuerURL) problems.push({ field: `${at}.issuerURL`, message: 'Required value' });
      if (!provider.clientID) problems.push({ field: `${at}.clientID`, message: 'Required value' });
      for (const flag of reservedFlags) {
        if (provider.clientConfig?.extraConfig && Object.hasOwn(provider.clientConfig.extraConfig, flag)) {
          problems.push({
            field: `${at}.clientConfig.extraConfig[${flag}]`,
            message: `Forbidden: ${flag} is a reserved key`,
          });
        }
      }
      return problems;
    });
  },
  statusField: 'authentication',
};

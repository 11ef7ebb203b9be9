import type { ComponentClient } from './component/guarded-client.ts';

/** A cluster on which components hand work over to somebody else, seen from the onboarding cluster. */
export type CoreCluster = (onboarding: { readonly client: ComponentClient }) => Promise<ComponentClient>;

/** The onboarding cluster, where no other is configured. */
export const onboardingCluster: CoreCluster = async ({ client }) => client;

import type { ComponentContext } from './component/define-component.ts';
import type { ComponentClient } from './component/guarded-client.ts';
import type { ComponentType } from './component/component-type.ts';

/** A cluster on which components hand work over to somebody else. */
export type CoreCluster = (context: ComponentContext<ComponentType>) => Promise<ComponentClient>;

/** The onboarding cluster, where no other is configured. */
export const onboardingCluster: CoreCluster = async ({ client }) => client;

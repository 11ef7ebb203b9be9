export type ArchitectureVersion = 'v1' | 'v2';

/** Which architecture a component is made for, and whether a ManagedControlPlane may choose another. */
export interface ArchitectureChoice {
  readonly version: ArchitectureVersion;
  readonly allowOverride: boolean;
}

/** Only these two know a second architecture. */
export type Architectures = Readonly<Partial<Record<'APIServer' | 'Landscaper', ArchitectureChoice>>>;

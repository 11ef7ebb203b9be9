/**
 * What the kit asks of `@slipway/reference-cluster`, which builds the real API server with Go. That package stays in the
 * repository; its part of the types is here, so that the kit installs and compiles without it.
 */
export interface ReferenceTool {
  readonly startReferenceCluster: (options: {
    readonly controllers?: boolean;
    readonly beforeControllers?: (access: ReferenceAccess) => Promise<void>;
    readonly simulateNodes?: number;
    readonly processNode?: ProcessNodeOptions;
  }) => Promise<ReferenceCluster>;
}

/** The way in for the administrator. */
export interface ReferenceAccess {
  readonly url: string;
  readonly ca: string;
  readonly adminCert: string;
  readonly adminKey: string;
}

export interface ReferenceCluster extends ReferenceAccess {
  readonly hostAddress?: string;
  logs(): Promise<string>;
  restartApiServer(): Promise<void>;
  stop(): Promise<void>;
}

/** A node whose containers are processes of this machine. */
export interface ProcessNodeOptions {
  /** What the node knows to run, by image. A pod with another image waits with ErrImagePull. */
  readonly images: Readonly<Record<string, ProcessImage>>;
  /** Waits before restarts. Default: a kubelet's. */
  readonly backOff?: { readonly baseMs: number; readonly maxMs: number; readonly resetAfterMs: number };
}

/** What an image is on such a node: files of the machine at paths of the container, and what is started. */
export interface ProcessImage {
  /** Files of the machine by their path in the container, e.g. `{ '/manager': '/home/me/manager' }`. */
  readonly files?: Readonly<Record<string, string>>;
  /** Started when the container names no command. */
  readonly entrypoint?: readonly string[];
  /** Variables every container of the image gets; those of the pod win. */
  readonly env?: Readonly<Record<string, string>>;
}

/** `SLIPWAY_CLUSTER=reference` was asked for where there is no reference cluster. */
export class NoReferenceTool extends Error {
  override readonly name = 'NoReferenceTool';
  readonly code = 'ERR_NO_REFERENCE_TOOL';

  constructor(cause: unknown) {
    super(
      'SLIPWAY_CLUSTER=reference needs the package @slipway/reference-cluster, which is part of the Slipway repository ' +
        'and not published; run this test in a clone of it, or unset SLIPWAY_CLUSTER to use the embedded cluster',
      { cause },
    );
  }
}

const tool = '@slipway/reference-cluster';

/** The tool, where it is installed. */
export async function referenceTool(load = (name: string): Promise<unknown> => import(name)): Promise<ReferenceTool> {
  try {
    return (await load(tool)) as ReferenceTool;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') throw new NoReferenceTool(error);
    throw error;
  }
}

import { belongsTo, bool, entity, hasMany, type KeelsonConfig, keelson, memoryDriver, string } from "keelson";

const everyone = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] };

const project = entity("project", { name: string.min(1).max(40), tasks: hasMany(() => task) }).rules(everyone);

const task = entity("task", {
  title: string.trim().min(3).max(80),
  isDone: bool.default(false),
  project: belongsTo(() => project),
}).rules(everyone);

const PROJECTS = ["Garden", "House"].map((name) => ({ id: name.toLowerCase(), name }));
const TASKS = Array.from({ length: 24 }, (_, i) => ({
  id: `task-${String(i + 1).padStart(2, "0")}`,
  title: `${["Water", "Paint", "Repair", "Clean"][i % 4]} the ${["fence", "shed", "gate", "window", "bench", "roof"][i % 6]}`,
  isDone: i % 5 === 0,
  projectId: i % 2 === 0 ? "garden" : "house",
}));

/** Tasks that everyone may change: the demo has no logins, and its data is lost when it ends. */
export function createTasks(options: Pick<KeelsonConfig, "logger"> = {}) {
  return keelson({
    entities: [project, task],
    driver: memoryDriver({ project: PROJECTS, task: TASKS }),
    ...options,
  });
}

export type TasksApi = ReturnType<typeof createTasks>;

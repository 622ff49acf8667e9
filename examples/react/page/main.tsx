import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { AddTask } from "./add-task.tsx";
import { TaskList } from "./task-list.tsx";

const queryClient = new QueryClient({ defaultOptions: { queries: { staleTime: 30_000 } } });

const root = document.getElementById("root");
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <h1>Tasks</h1>
        <AddTask />
        <TaskList />
      </QueryClientProvider>
    </StrictMode>,
  );

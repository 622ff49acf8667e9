import { Admin, Resource } from "react-admin";
import { createRoot } from "react-dom/client";
import { authProvider } from "./auth-provider.ts";
import { dataProvider } from "./data-provider.ts";
import { FilmCreate, FilmEdit, FilmList } from "./films.tsx";
import { ReviewCreate, ReviewEdit, ReviewList } from "./reviews.tsx";

// Telemetry would send this page's address to react-admin's makers.
const page = (
  <Admin title="Films" dataProvider={dataProvider} authProvider={authProvider} requireAuth disableTelemetry>
    <Resource name="films" list={FilmList} edit={FilmEdit} create={FilmCreate} recordRepresentation="title" />
    <Resource name="reviews" list={ReviewList} edit={ReviewEdit} create={ReviewCreate} />
    <Resource name="genres" recordRepresentation="name" />
    <Resource name="directors" recordRepresentation="name" />
    <Resource name="users" recordRepresentation="name" />
  </Admin>
);

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(page);

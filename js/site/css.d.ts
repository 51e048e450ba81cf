// Style sheets are put together by the build.
declare module "*.css";
